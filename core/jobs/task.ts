/** Runs one job from the queue: validates, opens its work lazily, commits; throwing retries with back-off. */
import type { Logger } from 'pino';
import type { Actor, Context, Scope } from '../context.ts';
import type { DomainEvent } from '../contract.ts';
import { EVERYWHERE, inWork, NOBODY, NOWHERE, type WorkServices } from '../work.ts';
import type { JobEnvelope, JobRegistry } from './registry.ts';

const JOB_ACTOR: Actor = { ...NOBODY, kind: 'job', name: 'job' };

export interface TaskServices {
  work: WorkServices;
  registry: JobRegistry;
  log: Logger;
  /** The partner above an organization; null when the organization is gone or its partner is not active. */
  partnerOf(orgId: string): Promise<string | null>;
}

/** The scope of a tenant job: exactly its organization. */
export function organizationScope(orgId: string, partnerId: string): Scope {
  return { ...NOWHERE, kind: 'organization', orgId, orgIds: [orgId], ownerPartnerId: partnerId };
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
export function jobTask(services: TaskServices, name: string): (payload: unknown) => Promise<void> {
  const known = services.registry.jobs.get(name);
  if (!known) throw new Error(`no module declares the job ${name}`);
  const { job } = known;
  const log = services.log.child({ job: name });
  return async (payload) => {
    const envelope = payload as JobEnvelope;
    const { error, value } = job.payload.validate(envelope.data, { convert: false });
    if (error) throw new Error(`payload of job ${name}: ${error.message}`);
    const scope = await scopeOf(services, job.scope, envelope.orgId);
    if (!scope) return;
    await inWork(
      services.work,
      {
        actor: JOB_ACTOR,
        scope,
        requestId: envelope.requestId,
        log,
        role: job.scope === 'platform' ? 'platform' : 'app',
      },
      (ctx) => job.run(ctx, value),
    );
  };
}

/** The function the queue calls for one subscriber: loads the event and hands it over. */
export function subscriberTask(services: TaskServices, task: string): (payload: unknown) => Promise<void> {
  const known = services.registry.subscribers.get(task);
  if (!known) throw new Error(`no module declares the subscriber ${task}`);
  const log = services.log.child({ job: task });
  return async (payload) => {
    const envelope = payload as JobEnvelope;
    const { eventId } = envelope.data as { eventId: string };
    const kind = envelope.orgId ? 'tenant' : 'platform';
    const scope = await scopeOf(services, kind, envelope.orgId);
    if (!scope) return;
    const role = kind === 'platform' ? 'platform' : 'app';
    await inWork(services.work, { actor: JOB_ACTOR, scope, requestId: envelope.requestId, log, role }, async (ctx) => {
      const event = await readEvent(ctx, eventId);
      if (event) await known.subscriber.run(ctx, event);
    });
  };
}

async function readEvent(ctx: Context, id: string): Promise<DomainEvent | null> {
  const { rows } = await ctx.sql<Omit<DomainEvent, 'occurredAt'> & { occurredAt: Date }>(
    `select id, name, org_id as "orgId", site_id as "siteId", device_id as "deviceId", occurred_at as "occurredAt", actor, data
     from events where id = $1`,
    [id],
  );
  const row = rows[0];
  return row ? { ...row, occurredAt: row.occurredAt.toISOString() } : null;
}
