/** The event logs of a Linux machine: the journal where there is one, else the text files of syslog. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventLogs } from '../../contract.ts';
import type { Ask } from '../ask.ts';
import { journalLogs } from './journal.ts';
import { syslogFiles } from './syslog.ts';

export function linuxEventLogs(ask: Ask, root = '/'): EventLogs {
  const source = async (): Promise<EventLogs> =>
    (await hasJournal(root)) ? journalLogs(ask) : syslogFiles(join(root, 'var/log'));
  return {
    list: async (signal) => (await source()).list(signal),
    query: async (log, query, signal) => (await source()).query(log, query, signal),
    event: async (log, recordId, signal) => (await source()).event(log, recordId, signal),
  };
}

/** The folder may exist, empty, where no journal was ever written. */
export async function hasJournal(root = '/'): Promise<boolean> {
  for (const folder of ['var/log/journal', 'run/log/journal'])
    if ((await readdir(join(root, folder)).catch(() => [])).length > 0) return true;
  return false;
}
