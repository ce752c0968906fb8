/** The services of the system and how they start. */
import { access } from 'node:fs/promises';
import type { ServiceItem, ServiceState } from '#agent-protocol';
import { outputOf } from './ask.ts';
import { macosServiceItems } from './macos/services.ts';
import { windowsServiceItems } from './windows/inventory.ts';

/** The list, or undefined where no service manager runs that this agent can ask. */
export async function collectServices(): Promise<ServiceItem[] | undefined> {
  if (process.platform === 'win32') return windowsServiceItems();
  if (process.platform === 'darwin') return macosServiceItems();
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
export function systemdState(active: string): ServiceState {
  if (active === 'active' || active === 'reloading') return 'running';
  if (active === 'activating') return 'starting';
  if (active === 'deactivating') return 'stopping';
  return active === 'inactive' || active === 'failed' ? 'stopped' : 'unknown';
}

/** A unit that systemd calls disabled can still be started by hand; a masked one cannot. */
export function systemdStart(word: string | undefined): ServiceItem['startType'] {
  if (!word) return undefined;
  if (word.startsWith('enabled')) return 'auto';
  return word.startsWith('masked') ? 'disabled' : 'manual';
}
