/** A schedule: what comes round, of whom, and when next. */
import type { Recurrence } from '#core';

/** Exactly one of them. */
export type ScheduleOwner = { orgId: string; partnerId?: null } | { orgId?: null; partnerId: string };

export interface Schedule {
  /** As a contribution to `schedules.kind` names it. */
  kind: string;
  /** The object that it belongs to, such as an automation. */
  ownerId: string;
  /** Tells several schedules of one object apart. */
  name?: string;
  recurrence: Recurrence;
  /** IANA zones; with several it comes round in each of them, as for devices by the zones of their sites. */
  zones: readonly string[];
  /** After a time in which no worker ran: `none` leaves out what came round meanwhile, `once` makes up for it by one occurrence. */
  catchUp: 'none' | 'once';
  /** Seconds by which each occurrence may come later, chosen anew each time: 0 to 3600. */
  jitterSeconds?: number;
  /** No occurrence before, and none after. */
  startsAt?: Date | null;
  endsAt?: Date | null;
}

export interface Occurrence {
  ownerId: string;
  name: string;
  zone: string;
  orgId: string | null;
  partnerId: string | null;
  /** The moment that the recurrence names, without jitter: with owner, name and zone it identifies the occurrence. */
  slot: Date;
  /** It should have come more than ten minutes ago. */
  late: boolean;
}

/** How late an occurrence may come without being one that was missed. */
export const LATE_MS = 10 * 60_000;
