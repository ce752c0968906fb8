/** openWork(): a transaction that opens when first used, the announced tenant, and the Context; for requests and jobs. */
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Actor, AuditEntry, Context, EmitOptions, Scope, Services } from './context/index.ts';
import {
  type AnyEvent,
  type Apis,
  type Batch,
  type EventName,
  type JobName,
  type JobPayload,
  type KnownEvent,
  type ModulePlace,
  nameOfEvent,
  type Slots,
} from './contract/index.ts';
import type { Batches } from './database/batches.ts';
import { bindKnex } from './database/knex.ts';
import type { Database } from './database/pools.ts';

/** What work leaves behind beside its rows; written with the commit, or not at all. */
export interface Effects {
  audits: object[];
  events: object[];
  jobs: object[];
  notices: object[];
}

/** The rooms right of this one, handed in so that work need not know them. */
export interface WorkServices {
  readonly database: Database;
  readonly batches: Batches;
  readonly services: Services;
  auditRow(work: Work, action: string, entry: AuditEntry): object;
  auditAttempt(work: Work, action: string, entry: AuditEntry): void;
  jobRow(work: Work, name: string, payload: unknown, options: { orgId?: string | null }): object;
  subscriberJobs(work: Work, event: { id: string; name: string; orgId: string | null }): object[];
  api(name: string, ctx: Context): unknown;
  fillings(slot: string, scope?: Scope, orgId?: string): readonly unknown[];
  orgsOf(filling: unknown, scope: Scope): readonly string[] | null;
  /** Whether the module whose event it is, is on there. */
  emits(event: string, where: ModulePlace): boolean;
  /** The definition of an event; undefined for one that is not declared in `events/`. */
  event(name: string): KnownEvent | undefined;
  /** Of modules that are on in the scope or, when it is given, for the organization. */
  events(scope: Scope, orgId?: string): readonly KnownEvent[];
  settings(ctx: Context, module: string, orgId: string | null): Promise<unknown>;
  /** Hands a notice to the listeners of this process at once; the others hear it through the database. */
  deliverNotice(channel: string, payload: string): void;
  /** Hands a hint to the other processes. */
  hint(channel: string, payload: string): void;
}

export interface WorkOptions {
  actor: Actor;
  scope: Scope;
  requestId: string;
  log: Logger;
  /** The database role; 'platform' reaches every tenant. */
  role: 'app' | 'platform';
  /** Refuses queries: for work that talks to the world, which must not hold a transaction meanwhile. */
  closed?: boolean;
  /** Aborts when the process wants to stop; a request has none. */
  signal?: AbortSignal | undefined;
}

export class Work {
  readonly options: WorkOptions;
  readonly effects: Effects = { audits: [], events: [], jobs: [], notices: [] };
  /** Rows by the database function that takes them with the commit. */
  readonly offered = new Map<string, object[]>();
  readonly recorded = new Set<string>();
  saidUnchanged = false;
  readonly ctx: Context;
  private readonly services: WorkServices;
  private connection: Promise<pg.PoolClient> | null = null;
  private begun: Promise<unknown> | null = null;
  private bound: Knex | null = null;
  private readonly after: (() => void)[] = [];
  private done = false;

  constructor(services: WorkServices, options: WorkOptions) {
    this.services = services;
    this.options = options;
    this.ctx = makeContext(this, services);
  }

  get trx(): Knex {
    this.bound ??= bindKnex(() => this.connect());
    return this.bound;
  }

  connect(): Promise<pg.PoolClient> {
    if (this.done) return Promise.reject(new Error('this work has ended; its context must not be used any more'));
    if (this.options.closed) return Promise.reject(new Error('this route opens no transaction (work: none)'));
    this.connection ??= this.begin();
    return this.connection;
  }

  afterCommit(fn: () => void): void {
    this.after.push(fn);
  }

  private async begin(): Promise<pg.PoolClient> {
    const pool = this.options.role === 'platform' ? this.services.database.platform : this.services.database.app;
    const client = await pool.connect();
    // Goes out with the first statement; what fails here fails that too, and the commit.
    const { stream } = client.connection;
    stream.cork();
    process.nextTick(() => stream.uncork());
    this.begun = client.query(`begin${announce(client, this.options.scope)}`);
    this.begun.catch(() => undefined);
    return client;
  }

  /** Commits the rows together with audit, events, jobs and notices. */
  async commit(): Promise<void> {
    const { audits, events, jobs, notices } = this.effects;
    const filled = Object.entries({ audits, events, jobs, notices }).filter(([, list]) => list.length > 0);
    if (!this.connection && filled.length === 0) return this.finish();
    this.connection ??= this.begin();
    const client = await this.connection;
    this.done = true;
    try {
      const flush = filled.length
        ? `select flush_effects(${client.escapeLiteral(storable(Object.fromEntries(filled)))}::jsonb);`
        : '';
      const offers = [...this.offered].map(
        ([into, rows]) => `select ${client.escapeIdentifier(into)}(${client.escapeLiteral(storable(rows))}::jsonb);`,
      );
      await this.begun;
      const results = (await client.query(`${flush}${offers.join('')}commit`)) as unknown as
        | pg.QueryResult
        | pg.QueryResult[];
      const last = Array.isArray(results) ? results.at(-1) : results;
      // COMMIT of a transaction that failed earlier answers ROLLBACK instead of an error.
      if (last?.command !== 'COMMIT') throw new Error('the transaction had failed and was rolled back');
    } catch (error) {
      await this.release(client, true);
      throw error;
    }
    client.release();
    this.finish();
  }

  /** Undoes everything; attempts recorded with auditAttempt() stay. */
  async rollback(): Promise<void> {
    this.done = true;
    const client = await this.connection?.catch(() => undefined);
    if (client) await this.release(client, true);
  }

  private async release(client: pg.PoolClient, rollback: boolean): Promise<void> {
    try {
      if (rollback) await client.query('rollback');
      client.release();
    } catch (error) {
      client.release(error as Error);
    }
  }

  private finish(): void {
    this.done = true;
    for (const fn of this.after) fn();
  }
}

/** JSON that jsonb accepts: it knows neither NUL nor lone surrogates. */
export function storable(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replaceAll('\0', '').toWellFormed() : inner,
  );
}

function announce(client: pg.PoolClient, scope: Scope): string {
  const settings: string[] = [];
  const set = (name: string, value: string) =>
    settings.push(`set_config('${name}', ${client.escapeLiteral(value)}, true)`);
  if (scope.orgIds && scope.orgIds.length > 0) set('app.org_ids', `{${scope.orgIds.join(',')}}`);
  if (scope.kind === 'partner' && scope.partnerId) set('app.partner_id', scope.partnerId);
  if (scope.ownerPartnerId) set('app.owner_partner_id', scope.ownerPartnerId);
  return settings.length > 0 ? `; select ${settings.join(', ')}` : '';
}

const NEVER = new AbortController().signal;

function makeContext(work: Work, services: WorkServices): Context {
  const { actor, scope, requestId, signal = NEVER } = work.options;
  let log: Logger | null = null;
  const ctx: Context = {
    actor,
    scope,
    requestId,
    signal,
    get log() {
      // Made when first used: most work logs nothing.
      log ??= work.options.log.child({ requestId });
      return log;
    },
    get trx() {
      return work.trx;
    },
    sql: async (text, values = [], name?) => {
      const client = await work.connect();
      return client.query(name ? { name, text, values } : { text, values });
    },
    batch: <I, O>(batch: Batch<I, O>, item: I) => services.batches.add(batch, item),
    audit: (action, entry = {}) => {
      work.recorded.add(action);
      work.effects.audits.push(services.auditRow(work, action, entry));
    },
    auditAttempt: (action, entry) => services.auditAttempt(work, action, entry),
    addJob: <N extends JobName>(name: N, payload: JobPayload<N>, options = {}) => {
      work.effects.jobs.push(services.jobRow(work, name, payload, options));
    },
    emit: (subject: EventName | AnyEvent, data: object, options: EmitOptions = {}) => {
      const name: string = typeof subject === 'string' ? subject : nameOfEvent(subject);
      const orgId = options.orgId ?? scope.orgId;
      if (!services.emits(name, { partnerId: scope.partnerId ?? scope.ownerPartnerId, orgId })) return;
      const event = {
        id: randomUUID(),
        name,
        orgId,
        siteId: options.siteId ?? null,
        deviceId: options.deviceId ?? scope.deviceId,
        actor: { kind: actor.kind, id: actor.id },
        data,
      };
      work.effects.events.push(event);
      work.effects.jobs.push(...services.subscriberJobs(work, event));
      for (const { into, take } of ctx.fillings('events.outbox', orgId ?? undefined)) {
        const row = take(ctx, event, services.event(name)?.definition);
        if (row) ctx.withCommit(into, row);
      }
    },
    notify: (channel, payload) => {
      work.effects.notices.push({ channel: 'quartermaster', payload: JSON.stringify([channel, payload]) });
      // The caller's next request may be here before the database has told this process.
      work.afterCommit(() => services.deliverNotice(channel, payload));
    },
    hint: (channel, payload) => {
      work.afterCommit(() => {
        services.deliverNotice(channel, payload);
        services.hint(channel, payload);
      });
    },
    use: <N extends keyof Apis>(module: N) => services.api(module as string, ctx) as Apis[N],
    fillings: <S extends keyof Slots>(slot: S, orgId?: string) =>
      services.fillings(slot, ctx.scope, orgId) as readonly Slots[S][],
    fillingsWithin: <S extends keyof Slots>(slot: S) =>
      ctx.fillings(slot).map((value) => ({ value, orgIds: services.orgsOf(value, ctx.scope) })),
    events: (orgId) => services.events(ctx.scope, orgId),
    within: async (orgIds, run) => {
      if (!orgIds) return run(ctx);
      const announceOrgs = (ids: readonly string[]) =>
        ctx.sql(`select set_config('app.org_ids', $1, true)`, [`{${ids}}`]);
      await announceOrgs(orgIds);
      const narrow: Context = Object.create(ctx, { scope: { value: { ...scope, orgIds }, enumerable: true } });
      const result = await run(narrow);
      // Where `run` throws the statements since are undone, and the announcement with them.
      await announceOrgs(scope.orgIds ?? []);
      return result;
    },
    settings: async <T>(module: string, orgId: string | null = scope.orgId) =>
      (await services.settings(ctx, module, orgId)) as T,
    unchanged: () => {
      work.saidUnchanged = true;
    },
    withCommit: (into, row) => {
      work.offered.set(into, [...(work.offered.get(into) ?? []), row]);
    },
    afterCommit: (fn) => work.afterCommit(fn),
    asPlatform: (run) => inWork(services, { actor, scope, requestId, log: work.options.log, role: 'platform' }, run),
    asCaller: async (run) => {
      const { log: base, role } = work.options;
      let recorded: ReadonlySet<string> = new Set();
      const result = await inWork(services, { actor, scope, requestId, log: base, role }, (inner, innerWork) => {
        recorded = innerWork.recorded;
        return run(inner);
      });
      for (const action of recorded) work.recorded.add(action);
      return result;
    },
    services: services.services,
  };
  return ctx;
}

/** Runs one piece of work: commits when `run` returns, rolls back when it throws. */
export async function inWork<T>(
  services: WorkServices,
  options: WorkOptions,
  run: (ctx: Context, work: Work) => Promise<T>,
): Promise<T> {
  const { actor, scope, requestId, log, role, closed = false, signal } = options;
  const work = new Work(services, { actor, scope, requestId, log, role, closed, signal });
  let result: T;
  try {
    result = await run(work.ctx, work);
  } catch (error) {
    await work.rollback();
    throw error;
  }
  await work.commit();
  return result;
}
