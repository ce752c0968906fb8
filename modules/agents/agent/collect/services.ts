/** The services of the system and how they start. */
import { access } from 'node:fs/promises';
import type { ServiceItem, ServiceState } from '../wire.ts';
import { outputOf, powershell } from './ask.ts';

/** The list, or undefined where no service manager runs that this agent can ask. */
export async function collectServices(): Promise<ServiceItem[] | undefined> {
  if (process.platform === 'win32') return windowsServices();
  if (process.platform === 'darwin') return parseLaunchctl((await outputOf('launchctl', 'list')) ?? '');
  const runs = await access('/run/systemd/system').then(
    () => true,
    () => false,
  );
  if (!runs) return undefined;
  const plain = ['--type=service', '--all', '--no-legend', '--plain', '--no-pager', '--full'];
  const units = await outputOf('systemctl', 'list-units', ...plain);
  if (units === undefined) return undefined;
  const files = await outputOf('systemctl', 'list-unit-files', '--type=service', '--no-legend', '--no-pager');
  return parseSystemd(units, files ?? '');
}

/** Joins `systemctl list-units` with `list-unit-files`; units systemd cannot find a file for are left out. */
export function parseSystemd(units: string, files: string): ServiceItem[] {
  const startTypes = new Map<string, string | undefined>();
  for (const line of files.split('\n')) {
    const [unit = '', word] = line.trim().split(/\s+/);
    startTypes.set(unit, word);
  }
  return units.split('\n').flatMap((line) => {
    const [, unit, load, active, title] =
      /^[●*]?\s*(\S+)\.service\s+(\S+)\s+(\S+)\s+\S+\s*(.*)$/.exec(line.trim()) ?? [];
    if (!unit || !active || load === 'not-found') return [];
    const startType = systemdStart(startTypes.get(`${unit}.service`));
    const displayName = title && title !== `${unit}.service` ? { displayName: title } : {};
    return { name: unit, ...displayName, state: systemdState(active), ...(startType && { startType }) };
  });
}

/** A unit that did its work and ended stays active for systemd, and counts as running here too. */
function systemdState(active: string): ServiceState {
  if (active === 'active' || active === 'reloading') return 'running';
  if (active === 'activating') return 'starting';
  if (active === 'deactivating') return 'stopping';
  return active === 'inactive' || active === 'failed' ? 'stopped' : 'unknown';
}

/** A unit that systemd calls disabled can still be started by hand; a masked one cannot. */
function systemdStart(word: string | undefined): ServiceItem['startType'] {
  if (!word) return undefined;
  if (word.startsWith('enabled')) return 'auto';
  return word.startsWith('masked') ? 'disabled' : 'manual';
}

/** Rows of `launchctl list`: process id or `-`, last status, label. */
export function parseLaunchctl(text: string): ServiceItem[] | undefined {
  const rows = text
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t'));
  const services = rows.flatMap(([pid, , name]) =>
    name ? { name, state: pid === '-' ? ('stopped' as const) : ('running' as const) } : [],
  );
  return services.length > 0 ? services : undefined;
}

async function windowsServices(): Promise<ServiceItem[] | undefined> {
  const fields = 'Name,DisplayName,State,StartMode,DelayedAutoStart';
  const rows = await powershell(`Get-CimInstance Win32_Service | Select-Object ${fields}`);
  return rows?.map((row) => ({
    name: String(row.Name),
    displayName: String(row.DisplayName),
    state: windowsState(String(row.State)),
    startType: windowsStart(String(row.StartMode), row.DelayedAutoStart === true),
  }));
}

function windowsState(word: string): ServiceState {
  const states: Record<string, ServiceState> = {
    Running: 'running',
    Stopped: 'stopped',
    Paused: 'paused',
    'Start Pending': 'starting',
    'Stop Pending': 'stopping',
  };
  return states[word] ?? 'unknown';
}

function windowsStart(mode: string, delayed: boolean): ServiceItem['startType'] {
  if (mode === 'Auto' || mode === 'Boot' || mode === 'System') return delayed ? 'auto_delayed' : 'auto';
  return mode === 'Disabled' ? 'disabled' : 'manual';
}
