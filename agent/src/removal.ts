/** Removes what the installer put on this machine: services or the scheduled task, the watchdog and the programs. */
import { access, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Ask } from './process/ask.ts';
import { powershell } from './tools/windows/powershell.ts';

/** Resolves with what was removed. Rejects with a sentence while something remains; it can be called again. */
export type Remove = (signal: AbortSignal) => Promise<string[]>;

const UNIX_FOLDER = '/usr/local/lib/quartermaster-agent';
const WATCHDOG = 'quartermaster-watchdog';
const AGENT = 'quartermaster-agent';
const WINDOWS_FOLDER = 'Quartermaster Agent';

/**
 * Undefined for a program that the installer did not put where it is: then nothing says what belongs to it. `managed`: whether a
 * service manager has to be told; found out when absent.
 */
export function removalOf(program: string, platform: NodeJS.Platform, ask: Ask, managed?: boolean): Remove | undefined {
  const folder = dirname(program);
  if (platform === 'win32') {
    return folder.endsWith(WINDOWS_FOLDER) ? (signal) => removeOnWindows(folder, ask, signal) : undefined;
  }
  if (!folder.endsWith(UNIX_FOLDER)) return undefined;
  // The installer's PREFIX: below another root folder no service was set up.
  const prefix = folder.slice(0, -UNIX_FOLDER.length);
  return async (signal) => {
    const found = prefix === '' && (platform === 'darwin' || (await exists('/run/systemd/system')));
    const run = (managed ?? found) ? (args: Command) => mustSucceed(ask, args, signal) : async () => undefined;
    const files = await removeServices(prefix, platform, run);
    await rm(folder, { recursive: true, force: true });
    return [...files, folder];
  };
}

/** The folder of the state, where it is the installer's: a state file may also lie in a folder that holds other things. */
export function installedStateFolder(stateFile: string): string | undefined {
  const folder = dirname(stateFile);
  return [AGENT, WINDOWS_FOLDER].includes(basename(folder)) ? folder : undefined;
}

type Command = readonly [program: string, ...args: string[]];

/** The agent itself runs on until it has reported; without its unit and its state it is not started again. */
async function removeServices(
  prefix: string,
  platform: NodeJS.Platform,
  run: (command: Command) => Promise<void>,
): Promise<string[]> {
  const removed: string[] = [];
  // The watchdog first, because it would start the agent again.
  for (const name of [WATCHDOG, AGENT]) {
    const unit = join(prefix, '/etc/systemd/system', `${name}.service`);
    const plist = join(prefix, '/Library/LaunchDaemons', `${name}.plist`);
    const file = platform === 'darwin' ? plist : unit;
    if (!(await exists(file))) continue;
    const stop = name === WATCHDOG ? ['--now'] : [];
    if (platform !== 'darwin') await run(['systemctl', 'disable', '--quiet', ...stop, `${name}.service`]);
    else if (name === WATCHDOG) await run(['/bin/launchctl', 'unload', file]);
    await rm(file, { force: true });
    removed.push(file);
  }
  if (platform !== 'darwin' && removed.length > 0) await run(['systemctl', 'daemon-reload']);
  return removed;
}

async function mustSucceed(ask: Ask, [program, ...args]: Command, signal: AbortSignal): Promise<void> {
  const { code, stderr } = await ask(program, args, { signal });
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr.trim() || code}`);
}

const UNREGISTER = `
  $task = Get-ScheduledTask -TaskName $asked.task -ErrorAction SilentlyContinue
  if ($task) { $task | Unregister-ScheduledTask -Confirm:$false }
  @{ found = [bool]$task }
`;
/** The path travels in the environment, so that no name of a folder can become code. */
const DELETE_LATER = `
  $env:QUARTERMASTER_REMOVED = $asked.folder
  $script = '1..30 | ForEach-Object { if (Test-Path -LiteralPath $env:QUARTERMASTER_REMOVED) { Start-Sleep -Seconds 10; ' +
    'Remove-Item -Recurse -Force -ErrorAction SilentlyContinue -LiteralPath $env:QUARTERMASTER_REMOVED } }'
  Start-Process -WindowStyle Hidden -FilePath powershell.exe -ArgumentList '-NoProfile', '-Command', $script
  @{ started = $true }
`;

/**
 * A program that runs can be renamed there, but not deleted: nothing starts it under its new name, and a process that outlives
 * the agent deletes it. The watchdog ends by itself when the state of the agent is gone.
 */
async function removeOnWindows(folder: string, ask: Ask, signal: AbortSignal): Promise<string[]> {
  const about = 'The removal of the agent';
  await powershell(ask, UNREGISTER, { about, asked: { task: WINDOWS_FOLDER }, signal });
  for (const name of await readdir(folder).catch(() => [])) {
    if (!name.endsWith('.removed')) await rename(join(folder, name), join(folder, `${name}.removed`));
  }
  await powershell(ask, DELETE_LATER, { about, asked: { folder }, signal });
  return [`the scheduled task ${WINDOWS_FOLDER}`, folder];
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
