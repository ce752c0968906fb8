/** The priority of a plugin's process against other processes. */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** As `nice` counts: of the process, and of its session. */
export const NICE = {
  asARule: { process: 10, session: 10 },
  /** For the broker, which others wait for too. */
  broker: { process: 5, session: 5 },
  /** For a process that keeps a processor busy without a message. */
  behind: { process: 19, session: 15 },
} as const;

/** Milliseconds between two changes of sessions: Linux takes so many from users other than root, on the whole machine. */
const BETWEEN_MS = 110;
const waiting = new Map<number, number>();
let timer: NodeJS.Timeout | null = null;

/**
 * Best effort. On Linux with autogroups a process in a session of its own is weighed against the server's whole session,
 * whatever its own niceness is: so the priority of the session is lowered as well.
 * @param leader of the session @param pid the process that does the work
 */
export function setNice(leader: number, pid: number, nice: (typeof NICE)[keyof typeof NICE]): void {
  waiting.set(leader, nice.session);
  setSessions();
  try {
    setPriority(pid, nice.process);
  } catch {
    // It has ended; or only root may raise what was lowered.
  }
}

function setSessions(): void {
  if (timer) return;
  for (const [leader, nice] of waiting) {
    try {
      writeFileSync(`/proc/${leader}/autogroup`, String(nice));
    } catch (error) {
      // Too soon after the change before, of this process or of any other.
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        timer = setTimeout(() => {
          timer = null;
          setSessions();
        }, BETWEEN_MS).unref();
        return;
      }
      // It does not exist, or this user may not change it.
    }
    waiting.delete(leader);
  }
}
