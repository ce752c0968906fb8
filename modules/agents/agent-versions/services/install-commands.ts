/** The line that a technician pastes into a shell to install and enroll the agent of a provisioned device. */
import { createHash } from 'node:crypto';
import type { OsType } from '#agent-protocol';
import type { Context } from '#core';
import { serverUrl, textOf } from './install-scripts.ts';

/**
 * The line checks the SHA-256 of the script before it runs it. The token travels in the environment: all users of a machine can
 * read the arguments of a process.
 */
export async function installCommand(ctx: Context, osType: OsType, token: string): Promise<string> {
  const name = osType === 'windows' ? 'install.ps1' : 'install.sh';
  const hash = createHash('sha256')
    .update(await textOf(ctx, name))
    .digest('hex');
  const url = `${serverUrl(ctx)}/api/v1/agents/${name}`;
  return osType === 'windows' ? forPowershell(url, hash, token) : forSh(url, hash, token, osType);
}

function forSh(url: string, hash: string, token: string, osType: 'linux' | 'macos'): string {
  const check = osType === 'macos' ? 'shasum -a 256 -c' : 'sha256sum -c';
  // Minimal systems have no sudo, but then the shell is root's.
  const sudo = '$(command -v sudo >/dev/null && echo sudo --preserve-env=AGENT_TOKEN)';
  return [
    `f=$(mktemp)`,
    `{ curl -fsSL '${url}' -o "$f" || wget -qO "$f" '${url}'; }`,
    `echo "${hash}  $f" | ${check} >/dev/null`,
    `AGENT_TOKEN=${token} ${sudo} sh "$f"`,
  ].join(' && ');
}

/** In a PowerShell of an administrator; the checked bytes are run from memory, so that no other file can take their place. */
function forPowershell(url: string, hash: string, token: string): string {
  return [
    `[Net.ServicePointManager]::SecurityProtocol='Tls12'`,
    `$b=(New-Object Net.WebClient).DownloadData('${url}')`,
    `$h=[BitConverter]::ToString([Security.Cryptography.SHA256]::Create().ComputeHash($b)).Replace('-','')`,
    `if($h -ne '${hash}'){throw 'the installer has another checksum'}`,
    `$env:AGENT_TOKEN='${token}'`,
    `& ([ScriptBlock]::Create([Text.Encoding]::UTF8.GetString($b)))`,
  ].join('; ');
}
