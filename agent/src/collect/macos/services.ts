/** Jobs of launchd for the inventory: what is loaded, and what is disabled. */

import type { ServiceItem } from '#agent-protocol';
import { parseDisabled, parseJobs } from '../../tools/macos/launchctl.ts';
import { outputOf } from '../ask.ts';

export async function macosServiceItems(): Promise<ServiceItem[] | undefined> {
  const list = await outputOf('launchctl', 'list');
  return list === undefined
    ? undefined
    : servicesOf(list, (await outputOf('launchctl', 'print-disabled', 'system')) ?? '');
}

/** How a job starts stands in its own definition; here only that it may not. Undefined when nothing could be read. */
export function servicesOf(list: string, disabled: string): ServiceItem[] | undefined {
  const off = parseDisabled(disabled);
  const services = parseJobs(list).map(
    ({ label, pid }): ServiceItem => ({
      name: label,
      state: pid === null ? 'stopped' : 'running',
      ...(off.has(label) && { startType: 'disabled' }),
    }),
  );
  return services.length > 0 ? services : undefined;
}
