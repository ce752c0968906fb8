/** A unit of work: a transaction that opens with its first statement, and the effects that its commit writes. */
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Logger } from 'pino';
import { beginCausation, type Causation, type Context } from '../context/index.ts';
import type { Claim } from '../database/connections/shares.ts';
import { limitAnswers } from '../database/connections/silence.ts';
import { bindKnex } from '../database/knex.ts';
import { ANSWER_MS, JOB_LOCK_MS, JOB_STATEMENT_MS } from '../database/pools.ts';
import { announceStatement } from './announce.ts';
import type { Cause, UnitOfWorkBackend } from './backend.ts';
import { flushStatements, noEffects } from './effects.ts';

export interface UnitOfWorkOptions extends Cause {
  log: Logger;
  /** What led to it; without, it is a beginning. */
  causation?: Causation | undefined;
  /** The database role; 'platform' reaches every tenant. */
  role: 'app' | 'platform';
  /** Refuses queries: for handlers that call other servers, which must not hold a transaction meanwhile. */
  closed?: boolean;
  /** No caller waits for this work, so its statements may take longer. */
  background?: boolean;
  /** Work that holds a connection waits for this one: waiting for a share as well could keep both waiting for ever. */
  nested?: boolean;
  /** Aborts when the worker is about to stop; a request has none. */
  signal?: AbortSignal | undefined;
  /** Asked when the connection of the first query is there, for which the work may have waited: throws where it is no longer wanted. */
  mayBegin?: (() => void) | undefined;
}

const BACKGROUND_LIMITS = `; set local statement_timeout = ${JOB_STATEMENT_MS}; set local lock_timeout = ${JOB_LOCK_MS}`;

/** The signature of runUnitOfWork. */
export type RunUnitOfWork = <T>(
  backend: UnitOfWorkBackend,
  options: UnitOfWorkOptions,
  run: (ctx: Context, work: UnitOfWork) => Promise<T>,
) => Promise<T>;

export class UnitOfWork {
  readonly backend: UnitOfWorkBackend;
  readonly options: UnitOfWorkOptions;
  readonly effects = noEffects();
  /** Rows by the database function that takes them with the commit. */
  readonly offered = new Map<string, object[]>();
  /** The actions of the audit entries so far. */
  readonly recorded = new Set<string>();
  /** Whether the handler declared that its write changed nothing. */
  saidUnchanged = false;
  readonly #run: RunUnitOfWork;
  #connection: Promise<pg.PoolClient> | null = null;
  #begun: Promise<unknown> | null = null;
  #knex: Knex | null = null;
  #log: Logger | null = null;
  #causation: Causation | null = null;
  readonly #afterCommit: (() => void)[] = [];
  #done = false;

  /** @param run runs a further unit of work beside this one */
  constructor(backend: UnitOfWorkBackend, options: UnitOfWorkOptions, run: RunUnitOfWork) {
    this.backend = backend;
    this.options = options;
    this.#run = run;
  }

  /** Runs a unit of work with a transaction of its own, for the same request or job, in the name of the context that asks for it. */
  runBeside<T>(
    { actor, scope, causation }: Pick<Context, 'actor' | 'scope' | 'causation'>,
    role: 'app' | 'platform',
    run: (ctx: Context, work: UnitOfWork) => Promise<T>,
  ): Promise<T> {
    const { requestId, log, background = false } = this.options;
    const nested = this.options.nested === true || this.#connection !== null;
    return this.#run(this.backend, { actor, scope, requestId, causation, log, role, background, nested }, run);
  }

  /** Made on first use: most units of work emit nothing. */
  get causation(): Causation {
    this.#causation ??= this.options.causation ?? beginCausation();
    return this.#causation;
  }

  get trx(): Knex {
    this.#knex ??= bindKnex(() => this.connect());
    return this.#knex;
  }

  /** Created on first use: most units of work log nothing. */
  get log(): Logger {
    this.#log ??= this.options.log.child({ requestId: this.options.requestId });
    return this.#log;
  }

  /** The connection of the transaction. Rejects after the end of the unit of work, and when it is closed. */
  connect(): Promise<pg.PoolClient> {
    if (this.#done) {
      return Promise.reject(new Error('this unit of work has ended; its context must not be used any more'));
    }
    if (this.options.closed) return Promise.reject(new Error('this route opens no transaction (work: none)'));
    this.#connection ??= this.#begin(this.options.mayBegin);
    return this.#connection;
  }

  afterCommit(run: () => void): void {
    this.#afterCommit.push(run);
  }

  /** Commits the rows together with audit entries, events, jobs and notices. */
  async commit(): Promise<void> {
    const { audits, events, jobs, notices } = this.effects;
    const hasEffects = audits.length + events.length + jobs.length + notices.length > 0;
    if (!this.#connection && !hasEffects) return this.#finish();
    this.#connection ??= this.#begin();
    const client = await this.#connection;
    this.#done = true;
    try {
      const flush = flushStatements(client, this.effects, this.offered);
      await this.#begun;
      const results = (await client.query(`${flush}commit`)) as unknown as pg.QueryResult | pg.QueryResult[];
      const last = Array.isArray(results) ? results.at(-1) : results;
      // COMMIT of a transaction in which a statement failed answers ROLLBACK instead of an error.
      if (last?.command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back');
    } catch (error) {
      await rollBackAndRelease(client);
      throw error;
    }
    client.release();
    this.#finish();
  }

  /** Undoes everything; attempts recorded with auditAttempt() stay. */
  async rollback(): Promise<void> {
    this.#done = true;
    const client = await this.#connection?.catch(() => undefined);
    if (client) await rollBackAndRelease(client);
  }

  async #begin(mayBegin?: () => void): Promise<pg.PoolClient> {
    const { database } = this.backend;
    const pool = this.options.role === 'platform' ? database.platform : database.app;
    const client = await (this.options.nested ? pool.connect() : pool.connectWithin(claimOf(this.options)));
    try {
      mayBegin?.();
    } catch (error) {
      client.release();
      throw error;
    }
    // `begin` goes out in one packet with the first statement; when it fails, that statement and the commit fail too.
    const { stream } = client.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
    if (this.options.background) limitAnswers(client, JOB_STATEMENT_MS + ANSWER_MS);
    const limits = this.options.background ? BACKGROUND_LIMITS : '';
    this.#begun = client.query(`begin${limits}${announceStatement(client, this.options.scope)}`);
    this.#begun.catch(() => undefined);
    return client;
  }

  #finish(): void {
    this.#done = true;
    for (const run of this.#afterCommit) run();
  }
}

/** Whose share of the pool the work takes its connection from. */
function claimOf({ actor, scope, background }: UnitOfWorkOptions): Claim {
  if (background) return { kind: 'background', tenant: null };
  if (actor.kind === 'agent') return { kind: 'agent', tenant: null };
  if (actor.kind === 'anonymous') return { kind: 'open', tenant: null };
  return { kind: 'request', tenant: scope.partnerId ?? scope.ownerPartnerId };
}

async function rollBackAndRelease(client: pg.PoolClient): Promise<void> {
  try {
    await client.query('rollback');
    client.release();
  } catch (error) {
    client.release(error as Error);
  }
}
