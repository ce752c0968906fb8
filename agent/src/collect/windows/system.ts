/** Which Windows this is, who is logged on, and whether it waits for a restart. */
import type { PowershellObject } from '../../tools/windows/powershell.ts';
import { known } from '../ask.ts';
import { virtualPlatform } from './hardware.ts';
import { windowsRows } from './rows.ts';

const IDENTITY = `
  $system = Get-CimInstance -ClassName Win32_OperatingSystem
  $machine = Get-CimInstance -ClassName Win32_ComputerSystem
  $key = 'HKEY_LOCAL_MACHINE\\SOFTWARE\\Microsoft\\'
  @{
    caption = $system.Caption; version = $system.Version; type = $system.ProductType
    manufacturer = $machine.Manufacturer; model = $machine.Model
    revision = [Microsoft.Win32.Registry]::GetValue($key + 'Windows NT\\CurrentVersion', 'UBR', $null)
    installation = [Microsoft.Win32.Registry]::GetValue($key + 'Windows NT\\CurrentVersion', 'InstallationType', $null)
    id = [Microsoft.Win32.Registry]::GetValue($key + 'Cryptography', 'MachineGuid', $null)
  }
`;
/** What quser prints is in the code page of consoles, all else in UTF-8. It exits with an error when no user is logged on. */
const MOMENT = `
  $ErrorActionPreference = 'Continue'
  $key = 'HKLM:\\SOFTWARE\\Microsoft\\Windows\\CurrentVersion\\'
  $names = 'HKLM:\\SYSTEM\\CurrentControlSet\\Control\\ComputerName\\'
  $now = (Get-ItemProperty -LiteralPath ($names + 'ActiveComputerName')).ComputerName
  $next = (Get-ItemProperty -LiteralPath ($names + 'ComputerName')).ComputerName
  $utf8 = [Console]::OutputEncoding
  $page = [Globalization.CultureInfo]::CurrentCulture.TextInfo.OEMCodePage
  [Console]::OutputEncoding = [Text.Encoding]::GetEncoding($page)
  $sessions = ''
  try { $sessions = (quser.exe 2>$null) -join [char]10 } catch { }
  [Console]::OutputEncoding = $utf8
  @{
    reboot = ((Test-Path -LiteralPath ($key + 'Component Based Servicing\\RebootPending')) -or
      (Test-Path -LiteralPath ($key + 'WindowsUpdate\\Auto Update\\RebootRequired')) -or ($now -ne $next))
    sessions = $sessions
  }
`;
/** How long an answer is reused: PowerShell is too slow to start for every heartbeat. */
const MOMENT_MS = 300_000;

export interface WindowsIdentity {
  osVersion?: string;
  osBuild?: string;
  machineGuid?: string;
  deviceRole?: string;
  isVirtual?: boolean;
  virtualizationPlatform?: string;
  isHeadless?: boolean;
}

export async function windowsIdentity(): Promise<WindowsIdentity> {
  const [row] = (await windowsRows(IDENTITY)) ?? [];
  return row ? identityOf(row) : {};
}

/** Product type 1 is a client; 2 and 3 are domain controllers and servers. Core and Nano servers come without a desktop. */
export function identityOf(row: PowershellObject): WindowsIdentity {
  const version = known(row.version);
  const installation = known(row.installation);
  const platform = virtualPlatform(row.manufacturer, row.model);
  return {
    osVersion: known(row.caption),
    osBuild: version && (typeof row.revision === 'number' ? `${version}.${row.revision}` : version),
    machineGuid: known(row.id),
    deviceRole: row.type === 1 ? 'workstation' : 'server',
    isVirtual: platform !== undefined,
    ...(installation && { isHeadless: installation === 'Server Core' || installation === 'Nano Server' }),
    ...(platform && { virtualizationPlatform: platform }),
  };
}

export interface Session {
  user: string;
  id: number;
  /** True for a session in use; false for a disconnected one. */
  active: boolean;
}

/** Rows of `quser`. Only the order of the columns counts: their names and the states are translated. */
export function parseQuser(text: string): Session[] {
  return text.split(/\r?\n/).flatMap((line) => {
    // A disconnected session has no name of its own, and its column is blank.
    const [, user, name, id] = /^[ >](\S+)\s+(?:(\S+)\s+)?(\d+)\s+\S+\s+\S+\s+\d/.exec(line) ?? [];
    return user && id ? [{ user, id: Number(id), active: name !== undefined }] : [];
  });
}

export interface Moment {
  pendingReboot?: boolean;
  lastUser?: string;
}

/** What changes during the day, asked at most every five minutes. */
export function windowsMoment(): () => Promise<Moment> {
  let last: Moment = {};
  let askedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    if (performance.now() - askedAt > MOMENT_MS) {
      askedAt = performance.now();
      const [row] = (await windowsRows(MOMENT)) ?? [];
      last = row ? momentOf(row) : {};
    }
    return last;
  };
}

/** Who is at the machine goes before who left a session open. */
export function momentOf(row: PowershellObject): Moment {
  const sessions = parseQuser(typeof row.sessions === 'string' ? row.sessions : '');
  const user = (sessions.find(({ active }) => active) ?? sessions[0])?.user;
  return { ...(typeof row.reboot === 'boolean' && { pendingReboot: row.reboot }), ...(user && { lastUser: user }) };
}
