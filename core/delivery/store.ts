/** A queue in the database: results go in, claimed messages come out. */
import { randomUUID } from 'node:crypto';
import type { Context } from '../context/index.ts';
import type { AnyDeliveryQueue, ClaimedMessage, DeliveryResult } from '../contract/index.ts';
import { noteHosts } from './breaker.ts';
import type { Room } from './capacity.ts';
import type { Gate, OfTenants } from './gate.ts';
import { claimStatement, expireStatement, resultsStatement, setAsideStatement } from './statements.ts';

/** Paused messages that one call gives up. */
const BATCH_SIZE = 5_000;

/** What one claim came to; `more` says that messages were due that are not among those to send. */
export interface Claimed {
  send: readonly (ClaimedMessage & OfTenants)[];
  more: boolean;
}

export class QueueStore {
  readonly #queue: AnyDeliveryQueue;
  readonly #gate: Gate;
  readonly #claim: string;
  readonly #results: string;

  constructor(queue: AnyDeliveryQueue, gate: Gate) {
    this.#queue = queue;
    this.#gate = gate;
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
    const closed = this.#gate.closed();
    if (closed === null) return { send: [], more: false };
    const lease = randomUUID();
    const { rows } = await ctx.sql<ClaimedMessage & OfTenants & Record<string, unknown>>(
      this.#claim,
      [free, othersFree, quick, lease, closed],
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
    const tenantsOf = new Map(rows.map(({ id, tenants }) => [id, tenants]));
    const whole = send.map((message) => ({
      ...message,
      tenants: tenantsOf.get(message.id) ?? [],
    }));
    return { send: whole, more: send.length < rows.length };
  }

  /** Gives up what was paused for too long. @param closed the tenants for which the module is or was off; null for all */
  async expire(ctx: Context, closed: readonly string[] | null): Promise<void> {
    if (closed?.length === 0) return;
    await ctx.sql(expireStatement(this.#queue), [closed, BATCH_SIZE]);
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
