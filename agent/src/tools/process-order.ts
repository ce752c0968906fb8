/** Puts processes into the order that was asked for. */
import type { ProcessItem } from '#agent-protocol';
import type { ProcessQuery } from './contract.ts';
import { matches } from './paging.ts';

/** Processes that match, in the order that was asked for; those with equal or unknown values by pid. */
export function orderProcesses<T extends ProcessItem>(list: readonly T[], query: ProcessQuery): T[] {
  const { search, sort, sortDir } = query;
  const sign = sortDir === 'asc' ? 1 : -1;
  const found = list.filter((one) => matches(search, one.name, one.commandLine, one.user, String(one.pid)));
  return found.sort((a, b) => {
    if (sort === 'pid') return sign * (a.pid - b.pid);
    if (sort === 'name') return sign * a.name.localeCompare(b.name, 'en', { sensitivity: 'base' }) || a.pid - b.pid;
    const of = (item: T): number => (sort === 'cpu' ? item.cpuPercent : item.memoryMb) ?? -1;
    return sign * (of(a) - of(b)) || a.pid - b.pid;
  });
}
