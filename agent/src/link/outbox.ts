/** Delivers stored results until the server has confirmed each of them. */

import type { Journal, JournalEntry } from '../store/journal.ts';
import { Backoff, pause, type Timing } from '../timing.ts';
import { RefusedError, UnreachableError } from './client.ts';
import type { Log } from './log.ts';
import type { Session } from './session.ts';

/** Refusals that no repetition will change: the command is unknown, or the server cannot read the result. */
const FINAL = new Set([400, 404, 409, 422]);

export class Outbox {
  readonly #journal: Journal;
  readonly #session: Session;
  readonly #backoff: Backoff;
  readonly #signal: AbortSignal;
  readonly #log: Log;
  #draining = false;
  #drained: Promise<void> = Promise.resolve();

  constructor(journal: Journal, session: Session, timing: Timing, signal: AbortSignal, log: Log) {
    this.#journal = journal;
    this.#session = session;
    this.#backoff = new Backoff(timing);
    this.#signal = signal;
    this.#log = log;
  }

  /** Starts delivering what waits, unless that is going on already. */
  wake(): void {
    if (this.#draining || this.#signal.aborted) return;
    this.#draining = true;
    this.#drained = this.#drain().catch((fault) => {
      this.#draining = false;
      this.#log(`Results could not be delivered: ${String(fault)}`, 'error');
    });
  }

  /** Last attempts for everything that waits, one at least, until `patience` (ms) is over; call it after the abort. */
  async farewell(patience: number): Promise<void> {
    const end = AbortSignal.timeout(patience);
    await this.#drained;
    while ((await this.#pass()) !== undefined && this.#session.condition === 'ok' && !end.aborted) {
      await pause(this.#backoff.next(), end);
    }
  }

  async #drain(): Promise<void> {
    while (this.#journal.undelivered().length > 0 && this.#session.condition === 'ok' && !this.#signal.aborted) {
      const retryAfter = await this.#pass();
      if (retryAfter === undefined) this.#backoff.reset();
      else await pause(this.#backoff.next(retryAfter), this.#signal);
    }
    // In the same step as the check above, so that no wake() falls between them.
    this.#draining = false;
  }

  /** Tries every result once; returns how long the server asks to wait when one must be tried again. */
  async #pass(): Promise<number | undefined> {
    let again: number | undefined;
    for (const entry of this.#journal.undelivered()) {
      if (this.#session.condition !== 'ok') return again;
      try {
        await this.#deliver(entry);
      } catch (fault) {
        again = Math.max(again ?? 0, fault instanceof RefusedError ? fault.retryAfterMs : 0);
        // The next one would meet the same; a refusal may concern this result only.
        if (fault instanceof UnreachableError) return again;
      }
    }
    return again;
  }

  async #deliver({ id, result }: JournalEntry): Promise<void> {
    try {
      await this.#session.call('POST', `commands/${id}/result`, result);
    } catch (fault) {
      if (fault instanceof RefusedError && fault.status === 413) {
        this.#log(`The result of ${id} is too large for the server; its output is shortened.`, 'warn');
        await this.#journal.shrink(id);
      }
      if (!(fault instanceof RefusedError && FINAL.has(fault.status))) throw fault;
      this.#log(`The server does not take the result of ${id}: ${fault.message}`, 'warn');
    }
    await this.#journal.confirm(id);
  }
}
