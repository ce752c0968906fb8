/** The context of a unit of work: actor, scope, queries, effects, and the services it may use. */
import type { Knex } from 'knex';
import type { Logger } from 'pino';
import type { Batch } from '../contract/batch.ts';
import type { EventDefinition, KnownEvent } from '../contract/event.ts';
import type { Apis, JobName, JobPayload, Slots } from '../contract/maps.ts';
import type { SlotDefinition } from '../contract/slots.ts';
import type { Actor } from './actor.ts';
import type { Causation } from './causation.ts';
import type { AuditEntry, EmitOptions, JobOptions } from './effects.ts';
import type { Scope } from './scope.ts';
import type { Services } from './services.ts';
import type { Sql } from './sql.ts';

/** Call its methods on the context itself; they do not work detached (`const { sql } = ctx`). */
/** A contribution and the organizations where its module is on; null for all that the scope reaches. */
export interface Within<T> {
  value: T;
  orgIds: readonly string[] | null;
}

/** In whose name `inNameOf` works. */
export interface OtherCause {
  actor: Actor;
  limits: Pick<Scope, 'siteIds' | 'groupIds'>;
  /** What led to it; that of this context when absent. */
  causation?: Causation | undefined;
}

export interface Context {
  readonly actor: Actor;
  readonly scope: Scope;
  readonly requestId: string;
  /** What led to this work; jobs and events that it adds carry it on. */
  readonly causation: Causation;
  readonly log: Logger;
  /**
   * Aborts when the worker is about to stop: a long job then saves its progress and throws, or adds the rest as a new job and
   * returns. Never aborts in a request.
   */
  readonly signal: AbortSignal;
  /** The transaction; opened on first use. */
  readonly trx: Knex;
  /** Plain SQL on the same transaction, for hot paths and sets. */
  readonly sql: Sql;
  /** Adds one item to a group commit on the platform's role; resolves when the item is durable. */
  batch<I, O>(batch: Batch<I, O>, item: I): Promise<O>;
  audit(action: string, entry?: AuditEntry): void;
  /** Records a failed or denied attempt outside this transaction, so that it survives a rollback. */
  auditAttempt(action: string, entry: AuditEntry & { result: 'failure' | 'denied' }): void;
  addJob<N extends JobName>(name: N, payload: JobPayload<N>, options?: JobOptions): void;
  /** Emits an event with the commit: of the scope's organization and device unless `options` names others. */
  emit<D extends object>(event: EventDefinition<D>, data: NoInfer<D>, options?: EmitOptions): void;
  /** Broadcasts to every process with the commit. */
  notify(channel: string, payload: string): void;
  /**
   * Broadcasts to every process soon after the commit, through Redis where there is one. A crash may lose it: use it only for
   * state that receivers also poll. Much cheaper than `notify`.
   */
  hint(channel: string, payload: string): void;
  use<N extends keyof Apis>(module: N): Apis[N];
  /** The contributions of modules that are on for the organization or, without one, anywhere in this scope. */
  contributions<T>(slot: SlotDefinition<T>, orgId?: string): readonly T[];
  contributions<S extends keyof Slots>(slot: S, orgId?: string): readonly Slots[S][];
  /** The same for work that spans organizations: each with the organizations where its module is on; null for all of them. */
  contributionsWithin<T>(slot: SlotDefinition<T>): readonly Within<T>[];
  contributionsWithin<S extends keyof Slots>(slot: S): readonly Within<Slots[S]>[];
  /** The event definitions of modules that are on for the organization or, without one, anywhere in this scope. */
  events(orgId?: string): readonly KnownEvent[];
  /** Narrows this transaction to these organizations while `run` works; null changes nothing. */
  within<T>(orgIds: readonly string[] | null, run: (ctx: Context) => Promise<T>): Promise<T>;
  /**
   * Runs `run` in this transaction as another person or key: for what they asked for and what is carried out later. It reaches at most what
   * this context reaches, less where the other is limited to sites or groups.
   */
  inNameOf<T>(other: OtherCause, run: (ctx: Context) => Promise<T>): Promise<T>;
  /** Runs `run` as the platform's role in a transaction of its own, where the tenant is not known yet (login, enrollment). */
  asPlatform<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  /**
   * Runs `run` as the caller in a transaction of its own: for routes that must not hold one while they wait (`work: 'none'`).
   * Its audit entries count as the route's.
   */
  asCaller<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  /** A module's settings for one organization: its schema's defaults, then the partner's, then the organization's. */
  settings<T>(module: string, orgId?: string | null): Promise<T>;
  /** Declares that a write changed nothing, so no audit entry is due. */
  unchanged(): void;
  /** Passes a row to `into`, a database function that takes them as a jsonb array, in the round trip of the commit. */
  withCommit(into: string, row: object): void;
  /** Runs after the commit, never after a rollback. */
  afterCommit(fn: () => void): void;
  readonly services: Services;
}
