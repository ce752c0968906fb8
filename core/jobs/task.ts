/** Runs one job from the queue: validates, opens its work lazily, commits; throwing retries with back-off. */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Actor, Causation, Context, Scope } from '../context/index.ts';
import { EVERYWHERE, NOBODY, NOWHERE } from '../context/index.ts';
import { type DomainEvent, EVENT_COLUMNS, type EventRow, eventOf } from '../contract/index.ts';
import { runUnitOfWork, type UnitOfWorkBackend } from '../work/index.ts';
import type { JobEnvelope, JobRegistry } from './registry.ts';

const JOB_ACTOR: Actor = { ...NOBODY, kind: 'job', name: 'job' };

export interface TaskServices {
  work: UnitOfWorkBackend;
  registry: JobRegistry;
  log: Logger;
  /** The partner above an organization; null when the organization is gone or its partner is not active. */
  partnerOf(orgId: string): Promise<string | null>;
  /** The queue's jobs that were not run because their module is off. */
  skipped: WeakSet<object>;
  /** Starts the background services of the modules (`Module.work`); returns a function that stops them. */
  startBackground(): Promise<() => Promise<void>>;
  /** Sends what is due in a delivery queue at this moment, for tests that go step by step. */
  drainDeliveries(queue: string): Promise<void>;
}

/**
 * Says so in the history and returns true where the module is off for the organization that the job is about. Jobs on the
 * platform's role have one, too, when work of that organization added them.
 */
function skips(
  { registry, skipped }: TaskServices,
  module: string,
  { scope, orgId }: { scope: Scope; orgId: string | null },
  helpers: { job: object },
): boolean {
  const reason = registry.modules.off(module, {
    partnerId: scope.ownerPartnerId,
    orgId,
  });
  if (!reason) return false;
  // The module is faulty, not switched off: its jobs wait until it is repaired.
  if (reason === 'faulty_package') throw new Error(`the package of the module ${module} cannot be used`);
  skipped.add(helpers.job);
  return true;
}

/** What the queue calls; the signal says that the node wants to stop. */
export type QueueTask = (payload: unknown, helpers: { job: object; abortSignal?: AbortSignal }) => Promise<void>;

/** The scope of a tenant job: exactly its organization. */
export function organizationScope(orgId: string, partnerId: string): Scope {
  return { ...NOWHERE, kind: 'organization', orgId, orgIds: [orgId], ownerPartnerId: partnerId };
}

/** `StartServices.asOrganization`. */
export async function asOrganization<T>(
  { work, log, partnerOf }: Pick<TaskServices, 'work' | 'log' | 'partnerOf'>,
  orgId: string,
  actor: Partial<Actor>,
  run: (ctx: Context) => Promise<T>,
  causation?: Causation,
): Promise<T | null> {
  const partnerId = await partnerOf(orgId);
  if (!partnerId) return null;
  const scope = organizationScope(orgId, partnerId);
  const who: Actor = { ...NOBODY, kind: 'system', ...actor };
  const requestId = randomUUID();
  return runUnitOfWork(work, { actor: who, scope, requestId, causation, log, role: 'app', background: true }, run);
}

async function scopeOf(
  services: TaskServices,
  kind: 'tenant' | 'platform',
  orgId: string | null,
): Promise<Scope | null> {
  if (kind === 'platform') return EVERYWHERE;
  if (!orgId) throw new Error('a tenant job needs an organization');
  const partnerId = await services.partnerOf(orgId);
  return partnerId ? organizationScope(orgId, partnerId) : null;
}

/** The function the queue calls for one declared job. A job of an organization that is gone ends quietly. */
export function jobTask(services: TaskServices, name: string): QueueTask {
  const known = services.registry.jobs.get(name);
  if (!known) throw new Error(`no module declares the job ${name}`);
  const { job } = known;
  const log = services.log.child({ job: name });
  return async (payload, helpers) => {
    const envelope = payload as JobEnvelope;
    const { error, value } = job.payload.validate(envelope.data, { convert: false });
    if (error) throw new Error(`payload of job ${name}: ${error.message}`);
    const scope = await scopeOf(services, job.scope, envelope.orgId);
    if (!scope) return;
    if (!job.whenOff && skips(services, known.module, { scope, orgId: envelope.orgId }, helpers)) return;
    await runUnitOfWork(
      services.work,
      {
        actor: JOB_ACTOR,
        scope,
        requestId: envelope.requestId,
        causation: envelope.causation,
        log,
        role: job.scope === 'platform' ? 'platform' : 'app',
        signal: helpers.abortSignal,
        background: true,
      },
      (ctx) => job.run(ctx, value),
    );
  };
}

/** The function the queue calls for one subscriber: loads the event and hands it over. */
export function subscriberTask(services: TaskServices, task: string): QueueTask {
  const known = services.registry.subscribers.get(task);
  if (!known) throw new Error(`no module declares the subscriber ${task}`);
  const log = services.log.child({ job: task });
  return async (payload, helpers) => {
    const envelope = payload as JobEnvelope;
    const { eventId } = envelope.data as { eventId: string };
    const kind = envelope.orgId ? 'tenant' : 'platform';
    const scope = await scopeOf(services, kind, envelope.orgId);
    if (!scope || skips(services, known.module, { scope, orgId: envelope.orgId }, helpers)) return;
    const role = kind === 'platform' ? 'platform' : 'app';
    const { requestId, causation } = envelope;
    const options = { actor: JOB_ACTOR, scope, requestId, causation, log, role, background: true } as const;
    await runUnitOfWork(services.work, { ...options, signal: helpers.abortSignal }, async (ctx) => {
      const event = await readEvent(ctx, eventId);
      if (!event) return;
      const { error } = services.work.event(event.name)?.definition.data.validate(event.data, { convert: false }) ?? {};
      if (error) throw new Error(`data of event ${event.name}: ${error.message}`, { cause: error });
      await known.subscriber.run(ctx, event);
    });
  };
}

async function readEvent(ctx: Context, id: string): Promise<DomainEvent | null> {
  // reach: the job's own event; its scope is the event's organization
  const { rows } = await ctx.sql<EventRow>(`select ${EVENT_COLUMNS} from events where id = $1`, [id]);
  return rows[0] ? eventOf(rows[0]) : null;
}
