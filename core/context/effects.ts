/** What a unit of work leaves behind besides its rows: audit entries, jobs and events, with the options of each. */
import type { Actor } from './actor.ts';
import type { Causation } from './causation.ts';

export interface AuditEntry {
  orgId?: string | null;
  partnerId?: string | null;
  resourceType?: string;
  resourceId?: string | null;
  resourceName?: string | null;
  details?: Record<string, unknown>;
  result?: 'success' | 'failure' | 'denied';
  errorMessage?: string;
  /** Set when the actor differs from that of the unit of work: a login names the user it let in. */
  actor?: Partial<Pick<Actor, 'kind' | 'id' | 'email'>>;
}

export interface JobOptions {
  runAt?: Date;
  /** Queued jobs with the same key are merged into one; the last payload wins. */
  key?: string;
  queue?: string;
  priority?: number;
  orgId?: string | null;
}

export interface EmitOptions {
  orgId?: string | null;
  siteId?: string | null;
  deviceId?: string | null;
  /** Of the event, where that is not what led to this work: the end of a command follows from what asked for it. */
  causation?: Causation;
}
