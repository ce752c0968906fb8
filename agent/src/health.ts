/** What the agent says of itself with each heartbeat: whether all that it does for its device works. */
import type { HeartbeatStatus } from '#agent-protocol';

type Grade = Exclude<HeartbeatStatus, 'ok'>;

export class Health {
  readonly #faults = new Map<string, Grade>();

  /** Something does not work, until `works` says otherwise. */
  fails(what: string, grade: Grade = 'warning'): void {
    this.#faults.set(what, grade);
  }

  works(what: string): void {
    this.#faults.delete(what);
  }

  /** The worst of what does not work. */
  get status(): HeartbeatStatus {
    const grades = [...this.#faults.values()];
    return grades.includes('error') ? 'error' : grades.length > 0 ? 'warning' : 'ok';
  }
}
