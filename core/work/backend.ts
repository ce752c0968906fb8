/** What a unit of work needs of the rooms that build on it; core/start hands it in. */
import type { Actor, AuditEntry, Causation, Context, JobOptions, Scope, Services } from '../context/index.ts';
import type { DomainEvent, KnownEvent, ModulePlace } from '../contract/index.ts';
import type { Batches } from '../database/batches.ts';
import type { Database } from '../database/pools.ts';

/** In whose name something happens, and what it reaches. */
export interface Cause {
  readonly actor: Actor;
  readonly scope: Scope;
  readonly requestId: string;
}

/** What subscribers' jobs are made of. */
export type EmittedEvent = Pick<DomainEvent, 'id' | 'name' | 'orgId' | 'correlationId' | 'depth' | 'by'>;

export interface UnitOfWorkBackend {
  readonly database: Database;
  readonly batches: Batches;
  readonly services: Services;
  auditRow(cause: Cause, action: string, entry: AuditEntry): object;
  auditAttempt(cause: Cause, action: string, entry: AuditEntry): void;
  jobRow(cause: Cause & { readonly causation: Causation }, name: string, payload: unknown, options: JobOptions): object;
  subscriberJobs(cause: Cause, event: EmittedEvent): object[];
  /** The api of a module, bound to the context. Throws when the module has none. */
  api(name: string, ctx: Context): unknown;
  contributions(slot: string, scope?: Scope, orgId?: string): readonly unknown[];
  orgsOf(contribution: unknown, scope: Scope): readonly string[] | null;
  /** Whether the module that declares the event is on there. */
  emits(event: string, where: ModulePlace): boolean;
  /** The definition of an event; undefined for one that is not declared in `events/`. */
  event(name: string): KnownEvent | undefined;
  /** Of modules that are on in the scope or, when it is given, for the organization. */
  events(scope: Scope, orgId?: string): readonly KnownEvent[];
  settings(ctx: Context, module: string, orgId: string | null): Promise<unknown>;
  /** Passes a notice to the listeners of this process at once; other processes receive it through the database. */
  deliverNotice(channel: string, payload: string): void;
  /** Sends a hint to the other processes. */
  hint(channel: string, payload: string): void;
}
