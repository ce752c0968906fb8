/** The jobs and subscribers that the loader found, and the queue rows that ask for them. */
import { type Causation, causedBy, type TaskInfo } from '../context/index.ts';
import { type AnyJob, type AnySubscriber, type ModuleDirectory, nameHeard } from '../contract/index.ts';
import type { EmittedEvent } from '../work/index.ts';
import { flagsOf } from './concurrency.ts';
import type { Lanes } from './lanes.ts';

/** What lies in the queue: ids and small values; the actor who caused it, for the log. */
export interface JobEnvelope {
  orgId: string | null;
  requestId: string;
  /** What led to it; absent in jobs that the schedule or the database has added. */
  causation?: Causation;
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

const SUBSCRIBER_ATTEMPTS = 6;

export class JobRegistry {
  readonly jobs = new Map<string, KnownJob>();
  readonly subscribers = new Map<string, KnownSubscriber>();
  readonly modules: Pick<ModuleDirectory, 'off' | 'orgsWithout'>;
  private readonly byEvent = new Map<string, KnownSubscriber[]>();
  private readonly lanes: Lanes | undefined;

  /** @param lanes gives tenants' jobs their turns; without it all stand in one line */
  constructor(modules: Pick<ModuleDirectory, 'off' | 'orgsWithout'>, lanes?: Lanes) {
    this.modules = modules;
    this.lanes = lanes;
  }

  addJob(known: KnownJob): void {
    this.jobs.set(known.job.name, known);
  }

  addSubscriber(known: KnownSubscriber): void {
    this.subscribers.set(known.task, known);
    const list = this.byEvent.get(nameHeard(known.subscriber)) ?? [];
    list.push(known);
    this.byEvent.set(nameHeard(known.subscriber), list);
  }

  /** Nothing of the module runs here any more; its jobs stay in the queue. */
  forget(module: string): void {
    for (const [name, known] of this.jobs) if (known.module === module) this.jobs.delete(name);
    for (const [task, known] of this.subscribers) if (known.module === module) this.subscribers.delete(task);
    for (const [event, list] of this.byEvent)
      this.byEvent.set(
        event,
        list.filter((known) => known.module !== module),
      );
  }

  /** All of them, for the operators' pages. */
  tasks(): TaskInfo[] {
    const jobs = [...this.jobs.values()].map(({ module, job }) => ({
      name: job.name,
      module,
      summary: job.summary,
      scope: job.scope,
      maxAttempts: job.maxAttempts,
      schedule: job.schedule ?? null,
      interactive: job.interactive === true,
    }));
    const subscribers = [...this.subscribers.values()].map(({ task, module, subscriber }) => ({
      name: task,
      module,
      summary: subscriber.summary,
      scope: 'subscriber' as const,
      maxAttempts: subscriber.maxAttempts ?? SUBSCRIBER_ATTEMPTS,
      schedule: null,
      interactive: false,
    }));
    return [...jobs, ...subscribers].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  /** The row for one job. Throws when the job is not declared or the payload does not fit: a mistake of the caller. */
  jobRow(
    name: string,
    payload: unknown,
    from: { orgId: string | null; requestId: string; causation?: Causation },
    options: { runAt?: Date; key?: string; queue?: string; priority?: number; orgId?: string | null },
  ): object {
    const known = this.jobs.get(name);
    if (!known) throw new Error(`no module declares the job ${name}`);
    const { error, value } = known.job.payload.validate(payload, { convert: false });
    if (error) throw new Error(`payload of job ${name}: ${error.message}`);
    const orgId = options.orgId === undefined ? from.orgId : options.orgId;
    const { requestId, causation } = from;
    const envelope: JobEnvelope = { orgId, requestId, ...(causation ? { causation } : {}), data: value };
    return {
      task: name,
      payload: envelope,
      queue: options.queue ?? known.job.queue ?? null,
      runAt: options.runAt?.toISOString() ?? null,
      maxAttempts: known.job.maxAttempts,
      key: options.key ?? null,
      priority: options.priority ?? this.turnOf(orgId),
      flags: flagsOf(name, orgId),
    };
  }

  /** One job for each subscriber of an event whose module is on where it happened. */
  subscriberJobs(event: EmittedEvent, requestId: string): object[] {
    const { orgId, id: eventId } = event;
    const causation = causedBy(event);
    const hearing = (this.byEvent.get(event.name) ?? []).filter(
      ({ module }) => !this.modules.off(module, { orgId: event.orgId }),
    );
    return hearing.map((known) => ({
      task: known.task,
      payload: { orgId, requestId, causation, data: { eventId } } satisfies JobEnvelope,
      maxAttempts: known.subscriber.maxAttempts ?? SUBSCRIBER_ATTEMPTS,
      priority: this.turnOf(event.orgId),
      flags: flagsOf(known.task, event.orgId),
    }));
  }

  private turnOf(orgId: string | null): number | null {
    return orgId && this.lanes ? this.lanes.next(orgId) : null;
  }
}
