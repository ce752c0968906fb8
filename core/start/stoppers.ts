/** What a process must stop, in the order in which it was started. */
import type { Logger } from 'pino';

export class Stoppers {
  readonly #started: { name: string; stop: () => Promise<void> | void }[] = [];
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** @param name for the log, when `stop` fails */
  add(name: string, stop: () => Promise<void> | void): void {
    this.#started.push({ name, stop });
  }

  /**
   * Stops everything, the last first. A failure is logged and does not keep the rest from stopping.
   * @returns false when something did not stop cleanly
   */
  async stopAll(): Promise<boolean> {
    let clean = true;
    for (let last = this.#started.pop(); last; last = this.#started.pop()) {
      try {
        await last.stop();
      } catch (error) {
        clean = false;
        this.#log.warn({ err: error }, `${last.name} did not stop cleanly`);
      }
    }
    return clean;
  }
}
