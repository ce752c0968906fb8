/** Reads what the kernel says of a process in /proc/PID/stat and /proc/PID/status. */
import type { ProcessItem } from '#agent-protocol';

/** Times in ticks of 1/100 s, which all current Linux systems show to programs. */
export const TICKS = 100;

export interface ProcStat {
  name: string;
  state: string;
  parentPid: number;
  /** User and system time together. */
  busyTicks: number;
  threads: number;
  /** Since the start of the system. */
  startTicks: number;
}

/** The name stands in parentheses and may itself contain some, so the last one ends it. */
export function parseProcStat(text: string): ProcStat | undefined {
  const open = text.indexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return undefined;
  const fields = text.slice(close + 2).split(' ');
  const number = (index: number): number => Number(fields[index]);
  const stat = {
    name: text.slice(open + 1, close),
    state: fields[0] ?? '',
    parentPid: number(1),
    busyTicks: number(11) + number(12),
    threads: number(17),
    startTicks: number(19),
  };
  return Number.isFinite(stat.startTicks) && Number.isFinite(stat.busyTicks) ? stat : undefined;
}

/** Resident memory in MiB (null for the kernel's own threads) and the effective user's number. */
export function parseProcStatus(text: string): { memoryMb: number | null; uid: number | null } {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1];
  const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(text)?.[1];
  return {
    memoryMb: kib === undefined ? null : Math.round((Number(kib) / 1024) * 10) / 10,
    uid: uid === undefined ? null : Number(uid),
  };
}

export function statusOf(state: string): ProcessItem['status'] {
  const words: Record<string, ProcessItem['status']> = {
    R: 'running',
    S: 'sleeping',
    D: 'sleeping',
    I: 'sleeping',
    T: 'stopped',
    t: 'stopped',
    Z: 'zombie',
  };
  return words[state] ?? 'unknown';
}

/** Milliseconds since 1970 at which the system started, from /proc/stat. */
export function parseBootTime(text: string): number | undefined {
  const seconds = /^btime (\d+)$/m.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds) * 1000;
}

/** Names by user number, from the text of /etc/passwd or of `getent passwd`. */
export function parsePasswd(text: string): Map<number, string> {
  const names = new Map<number, string>();
  for (const line of text.split('\n')) {
    const [name, , uid] = line.split(':');
    if (name && uid && /^\d+$/.test(uid) && !names.has(Number(uid))) names.set(Number(uid), name);
  }
  return names;
}
