/** The running processes with their load, as the live tools of the system list them. */
import { MAX_PROCESSES, type ProcessItem, type ProcessSample } from '#agent-protocol';
import { toolsHere } from '../tools/system.ts';

const LIMIT_MS = 60_000;

/** The busiest first; undefined where the system cannot list them. */
export async function collectProcesses(): Promise<ProcessSample[] | undefined> {
  const busiest = { page: 1, limit: MAX_PROCESSES, sort: 'cpu', sortDir: 'desc' } as const;
  const found = await toolsHere([])
    ?.processes.list(busiest, AbortSignal.timeout(LIMIT_MS))
    .catch(() => undefined);
  return found?.items.map(toSample);
}

/** Without the command line: its arguments may hold passwords, and a sample is kept on the server. */
export function toSample({ pid, name, cpuPercent, memoryMb, user, startTime }: ProcessItem): ProcessSample {
  return {
    pid,
    name: name.slice(0, 255) || String(pid),
    ...(cpuPercent !== null && { cpuPercent }),
    ...(memoryMb !== null && { memoryMb }),
    ...(user !== null && { user: user.slice(0, 255) }),
    ...(startTime !== null && { startedAt: startTime }),
  };
}
