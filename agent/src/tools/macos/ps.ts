/** What `ps` of macOS prints, asked for in English and UTC. */
import type { ProcessDetail } from '#agent-protocol';
import { cut, MOST_COMMAND_LINE } from '../limits.ts';

/** `env` gives English names of months and times in UTC; nothing of the agent's own language gets in. */
export const PS = '/usr/bin/env';
const PLAIN = ['LC_ALL=C', 'TZ=UTC0', '/bin/ps', '-axww'];
/** The program stands last, because its path may hold spaces. */
export const PS_LIST = [...PLAIN, '-o', 'pid=,ppid=,user=,pcpu=,rss=,state=,lstart=,comm='];
export const PS_ARGS = [...PLAIN, '-o', 'pid=,args='];

const ROW = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+([\d.,]+)\s+(\d+)\s+(\S+)\s+(\w{3}\s+\w{3}\s+\d+\s+[\d:]+\s+\d{4})\s+(.*)$/;

/** Rows of PS_LIST joined with those of PS_ARGS by pid. `cores` turns the share of one processor into that of all. */
export function parsePs(list: string, args: string, cores: number): ProcessDetail[] {
  const commands = new Map<number, string>();
  for (const [, pid, command = ''] of args.matchAll(/^\s*(\d+)\s+(.*)$/gm)) commands.set(Number(pid), command.trim());
  return list.split('\n').flatMap((line) => {
    const [, pid, parent, user, load, kib, state = '', start, program = ''] = ROW.exec(line.trimEnd()) ?? [];
    if (pid === undefined || start === undefined) return [];
    const began = new Date(`${start} UTC`);
    const command = commands.get(Number(pid)) || program;
    return {
      pid: Number(pid),
      name: program.slice(program.lastIndexOf('/') + 1) || program,
      cpuPercent: Math.min(100, Math.round((100 * Number(load?.replace(',', '.'))) / Math.max(1, cores)) / 100),
      memoryMb: Math.round((100 * Number(kib)) / 1024) / 100,
      user: user ?? null,
      status: statusOf(state),
      commandLine: cut(command, MOST_COMMAND_LINE),
      parentPid: Number(parent),
      threads: null,
      startTime: Number.isNaN(began.getTime()) ? null : began.toISOString(),
    };
  });
}

/** The first letter is the state; what follows (`+`, `s`, `<`) is decoration. */
function statusOf(state: string): ProcessDetail['status'] {
  const states: Record<string, ProcessDetail['status']> = {
    R: 'running',
    S: 'sleeping',
    I: 'sleeping',
    U: 'sleeping',
    T: 'stopped',
    Z: 'zombie',
  };
  return states[state.charAt(0)] ?? 'unknown';
}

/** Threads of one process in `ps -M`: a row each below the heading. */
export function parseThreads(text: string): number | null {
  const threads = text.trim().split('\n').length - 1;
  return threads > 0 ? threads : null;
}

/** Paths of open files in `lsof -F fn`: lines `n/path` that follow a numbered descriptor. */
export function parseLsof(text: string, most: number): string[] {
  const files = new Set<string>();
  let numbered = false;
  for (const line of text.split('\n')) {
    if (line.startsWith('f')) numbered = /^f\d/.test(line);
    else if (numbered && line.startsWith('n/') && files.size < most) files.add(line.slice(1));
  }
  return [...files];
}
