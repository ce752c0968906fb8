/** The Context of a unit of work; a narrowed scope makes another Context on the same transaction. */
import { randomUUID } from 'node:crypto';
import type { Knex } from 'knex';
import type { QueryResult, QueryResultRow } from 'pg';
import type { Logger } from 'pino';
import {
  type Actor,
  type AuditEntry,
  type Causation,
  type Context,
  type EmitOptions,
  type JobOptions,
  type OtherCause,
  type Scope,
  type Services,
  type Within,
  withinLimits,
} from '../context/index.ts';
import {
  type AnySlot,
  type Apis,
  type Batch,
  type EventDefinition,
  type JobName,
  type JobPayload,
  type KnownEvent,
  nameOfEvent,
  nameOfSlot,
  type SlotDefinition,
  type Slots,
} from '../contract/index.ts';
import { announceOrgs } from './announce.ts';
import type { UnitOfWork } from './unit-of-work.ts';

const slotName = (slot: AnySlot | string): string => (typeof slot === 'string' ? slot : nameOfSlot(slot));
const NEVER = new AbortController().signal;

/** Methods live on the prototype, so that a request allocates one small object: call them on the context, do not detach them. */
export class WorkContext implements Context {
  readonly actor: Actor;
  readonly scope: Scope;
  readonly requestId: string;
  readonly signal: AbortSignal;
  readonly services: Services;
  readonly #work: UnitOfWork;
  readonly #causation: Causation | undefined;

  /** @param other where it is another than that of the work */
  constructor(work: UnitOfWork, scope: Scope, other?: Pick<OtherCause, 'actor' | 'causation'>) {
    const { actor, requestId, signal } = work.options;
    this.actor = other?.actor ?? actor;
    this.#causation = other?.causation;
    this.scope = scope;
    this.requestId = requestId;
    this.signal = signal ?? NEVER;
    this.services = work.backend.services;
    this.#work = work;
  }

  get causation(): Causation {
    return this.#causation ?? this.#work.causation;
  }

  get log(): Logger {
    return this.#work.log;
  }

  get trx(): Knex {
    return this.#work.trx;
  }

  async sql<R extends QueryResultRow>(text: string, values: unknown[] = [], name?: string): Promise<QueryResult<R>> {
    const client = await this.#work.connect();
    return client.query<R>(name ? { name, text, values } : { text, values });
  }

  batch<I, O>(batch: Batch<I, O>, item: I): Promise<O> {
    return this.#work.backend.batches.add(batch, item);
  }

  audit(action: string, entry: AuditEntry = {}): void {
    this.#work.recorded.add(action);
    this.#work.effects.audits.push(this.#work.backend.auditRow(this, action, entry));
  }

  auditAttempt(action: string, entry: AuditEntry & { result: 'failure' | 'denied' }): void {
    this.#work.backend.auditAttempt(this, action, entry);
  }

  addJob<N extends JobName>(name: N, payload: JobPayload<N>, options: JobOptions = {}): void {
    this.#work.effects.jobs.push(this.#work.backend.jobRow(this, name, payload, options));
  }

  emit<D extends object>(definition: EventDefinition<D>, data: NoInfer<D>, options: EmitOptions = {}): void {
    const name = nameOfEvent(definition);
    const { actor, scope } = this;
    const { backend, effects } = this.#work;
    const orgId = options.orgId ?? scope.orgId;
    if (!backend.emits(name, { partnerId: scope.partnerId ?? scope.ownerPartnerId, orgId })) return;
    const event = {
      id: randomUUID(),
      name,
      orgId,
      siteId: options.siteId ?? null,
      deviceId: options.deviceId ?? scope.deviceId,
      actor: { kind: actor.kind, id: actor.id },
      data,
      ...(options.causation ?? this.causation),
    };
    effects.events.push(event);
    effects.jobs.push(...backend.subscriberJobs(this, event));
    for (const { into, take } of this.contributions('events.outbox', orgId ?? undefined)) {
      const row = take(this, event, backend.event(name)?.definition);
      if (row) this.withCommit(into, row);
    }
  }

  notify(channel: string, payload: string): void {
    this.#work.effects.notices.push({ channel: 'quartermaster', payload: JSON.stringify([channel, payload]) });
    // The caller's next request may arrive here before the database has notified this process.
    this.#work.afterCommit(() => this.#work.backend.deliverNotice(channel, payload));
  }

  hint(channel: string, payload: string): void {
    const { backend } = this.#work;
    this.#work.afterCommit(() => {
      backend.deliverNotice(channel, payload);
      backend.hint(channel, payload);
    });
  }

  use<N extends keyof Apis>(module: N): Apis[N] {
    return this.#work.backend.api(module as string, this) as Apis[N];
  }

  contributions<T>(slot: SlotDefinition<T>, orgId?: string): readonly T[];
  contributions<S extends keyof Slots>(slot: S, orgId?: string): readonly Slots[S][];
  contributions(slot: AnySlot | string, orgId?: string): readonly unknown[] {
    return this.#work.backend.contributions(slotName(slot), this.scope, orgId);
  }

  contributionsWithin<T>(slot: SlotDefinition<T>): readonly Within<T>[];
  contributionsWithin<S extends keyof Slots>(slot: S): readonly Within<Slots[S]>[];
  contributionsWithin(slot: AnySlot | string): readonly Within<unknown>[] {
    const { backend } = this.#work;
    const list = backend.contributions(slotName(slot), this.scope);
    return list.map((value) => ({ value, orgIds: backend.orgsOf(value, this.scope) }));
  }

  events(orgId?: string): readonly KnownEvent[] {
    return this.#work.backend.events(this.scope, orgId);
  }

  async within<T>(orgIds: readonly string[] | null, run: (ctx: Context) => Promise<T>): Promise<T> {
    if (!orgIds) return run(this);
    await announceOrgs(this, orgIds);
    const result = await run(new WorkContext(this.#work, { ...this.scope, orgIds }, this));
    // When `run` throws, the rollback restores the setting.
    await announceOrgs(this, this.scope.orgIds ?? []);
    return result;
  }

  inNameOf<T>(other: OtherCause, run: (ctx: Context) => Promise<T>): Promise<T> {
    const { actor, limits, causation = this.causation } = other;
    return run(new WorkContext(this.#work, withinLimits(this.scope, limits), { actor, causation }));
  }

  async settings<T>(module: string, orgId: string | null = this.scope.orgId): Promise<T> {
    return (await this.#work.backend.settings(this, module, orgId)) as T;
  }

  unchanged(): void {
    this.#work.saidUnchanged = true;
  }

  withCommit(into: string, row: object): void {
    const { offered } = this.#work;
    const rows = offered.get(into);
    if (rows) rows.push(row);
    else offered.set(into, [row]);
  }

  afterCommit(run: () => void): void {
    this.#work.afterCommit(run);
  }

  asPlatform<T>(run: (ctx: Context) => Promise<T>): Promise<T> {
    return this.#work.runBeside(this, 'platform', run);
  }

  async asCaller<T>(run: (ctx: Context) => Promise<T>): Promise<T> {
    let recorded: ReadonlySet<string> = new Set();
    const result = await this.#work.runBeside(this, this.#work.options.role, (ctx, work) => {
      recorded = work.recorded;
      return run(ctx);
    });
    for (const action of recorded) this.#work.recorded.add(action);
    return result;
  }
}
