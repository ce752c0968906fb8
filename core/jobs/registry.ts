/** The jobs and subscribers that the loader found, and the queue rows that ask for them. */
import type { AnyJob, AnySubscriber } from '../contract.ts';

/** What lies in the queue: ids and small values; the actor who caused it, for the log. */
export interface JobEnvelope {
  orgId: string | null;
  requestId: string;
  data: unknown;
}
export interface KnownSubscriber {
  /** `<module>/on-<file>`: the task's name in the queue. */
  task: string;
  module: string;
  subscriber: AnySubscriber;
}
export interface KnownJob {
  module: string;
  job: AnyJob;
}

export class JobRegistry {
  readonly jobs = new Map<string, KnownJob>();
  readonly subscribers = new Map<string, KnownSubscriber>();
  private readonly byEvent = new Map<string, KnownSubscriber[]>();

  addJob(known: KnownJob): void {
    this.jobs.set(known.job.name, known);
  }

  addSubscriber(known: KnownSubscriber): void {
    this.subscribers.set(known.task, known);
    const list = this.byEvent.get(known.subscriber.on) ?? [];
    list.push(known);
    this.byEvent.set(known.subscriber.on, list);
  }

  /** The row for one job. Throws when nobody declared it or the payload does not fit: a mistake of the caller. */
  jobRow(
    name: string,
    payload: unknown,
    from: { orgId: string | null; requestId: string },
    options: { runAt?: Date; key?: string; queue?: string; priority?: number; orgId?: string | null },
  ): object {
    const known = this.jobs.get(name);
    if (!known) throw new Error(`no module declares the job ${name}`);
    const { error, value } = known.job.payload.validate(payload, { convert: false });
    if (error) throw new Error(`payload of job ${name}: ${error.message}`);
    const orgId = options.orgId === undefined ? from.orgId : options.orgId;
    const envelope: JobEnvelope = { orgId, requestId: from.requestId, data: value };
    return {
      task: name,
      payload: envelope,
      queue: options.queue ?? known.job.queue ?? null,
      runAt: options.runAt?.toISOString() ?? null,
      maxAttempts: known.job.maxAttempts,
      key: options.key ?? null,
      priority: options.priority ?? null,
    };
  }

  /** One job for each subscriber of an event. */
  subscriberJobs(event: { id: string; name: string; orgId: string | null }, requestId: string): object[] {
    return (this.byEvent.get(event.name) ?? []).map((known) => ({
      task: known.task,
      payload: { orgId: event.orgId, requestId, data: { eventId: event.id } } satisfies JobEnvelope,
      maxAttempts: known.subscriber.maxAttempts ?? 6,
    }));
  }
}
