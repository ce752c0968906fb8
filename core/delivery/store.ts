/** A queue in the database: results go in, claimed messages come out. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context/index.ts';
import type { AnyDeliveryQueue, ClaimedMessage, DeliveryResult } from '../contract/index.ts';
import { noteHosts } from './breaker.ts';
import type { Room } from './capacity.ts';
import { claimStatement, resultsStatement, setAsideStatement } from './statements.ts';

/** What one claim came to; `more` says that messages were due that are not among those to send. */
export interface Claimed {
  send: readonly ClaimedMessage[];
  more: boolean;
}

export class QueueStore {
  readonly #queue: AnyDeliveryQueue;
  readonly #orgsWithout: () => readonly string[];
  readonly #claim: string;
  readonly #results: string;

  /** @param orgsWithout the organizations for which the queue's module is off */
  constructor(queue: AnyDeliveryQueue, orgsWithout: () => readonly string[]) {
    this.#queue = queue;
    this.#orgsWithout = queue.waitsWhereOff ? orgsWithout : () => [];
    this.#claim = claimStatement(queue);
    this.#results = resultsStatement(queue);
  }

  /**
   * Opens a turn: processes take turns, so that what a partition has under way is counted right. Does not wait for the disk at
   * the commit; what a crash undoes is sent again.
   */
  async takeTurn(ctx: Context): Promise<void> {
    await ctx.sql(
      `select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended($1, 0))`,
      [`delivery:${this.#queue.name}`],
      'delivery-turn',
    );
  }

  async claim(ctx: Context, { free, othersFree, quick }: Room): Promise<Claimed> {
    const lease = randomUUID();
    const { rows } = await ctx.sql<ClaimedMessage & Record<string, unknown>>(
      this.#claim,
      [free, othersFree, quick, lease, this.#orgsWithout()],
      `${this.#queue.name}-claim`,
    );
    if (!this.#queue.prepare || rows.length === 0) return { send: rows, more: false };
    const { send, postponed = [] } = await this.#queue.prepare(ctx, rows);
    const settled = new Set([...send, ...postponed].map(({ id }) => id));
    const removed = rows.map(({ id }) => id).filter((id) => !settled.has(id));
    if (removed.length + postponed.length > 0) {
      const ids = postponed.map(({ id }) => id);
      const until = postponed.map((one) => one.until);
      await ctx.sql(setAsideStatement(this.#queue), [removed, ids, until, lease], `${this.#queue.name}-set-aside`);
    }
    return { send, more: send.length < rows.length };
  }

  /** Ignores results whose lease has ended. */
  async write(ctx: Context, results: readonly DeliveryResult[]): Promise<void> {
    const { record } = this.#queue;
    const given = results.map(({ message: { id, lease }, status, seconds, outcome: { error = null, details } }) => ({
      id,
      lease,
      status,
      seconds,
      error,
      ...(record ? details : {}),
    }));
    const { rows } = await ctx.sql(this.#results, [JSON.stringify(given)], `${this.#queue.name}-results`);
    if (this.#queue.receiver?.host) await noteHosts(ctx, this.#queue.name, results);
    await this.#queue.conclude?.(ctx, rows);
  }
}
