/** How much of the processor a plugin's process gets where others want it too. */
import { writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** As `nice` counts: of the process, and of its session. */
export const NICE = {
  asARule: { process: 5, session: 0 },
  /** For one that keeps a processor busy without a word. */
  behind: { process: 19, session: 15 },
} as const;

/**
 * As well as can be. A process in a session of its own is weighed against the server's whole session on Linux with
 * autogroups, whatever its own niceness says: so the session stands back as well.
 * @param leader of the session @param pid the process that does the work
 */
export function setNice(leader: number, pid: number, nice: (typeof NICE)[keyof typeof NICE]): void {
  try {
    writeFileSync(`/proc/${leader}/autogroup`, String(nice.session));
  } catch {
    // Not there, or not ours to change.
  }
  try {
    setPriority(pid, nice.process);
  } catch {
    // It has ended; or only root may take back what it has lowered.
  }
}
