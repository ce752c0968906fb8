/** Decides by policy whether a device should be offered a version now. Pure functions. */
import { createHash } from 'node:crypto';
import semver from 'semver';
import type { Component, Platform, ReleaseArchitecture } from '#agent-protocol';
import { DAYS, type Day, type Ring, type UpdatePolicy, type Window } from '../../models/update-policy.ts';
import { type Loaded, latestFor, type Target, targetFor } from '../catalog.ts';

export interface Candidate {
  deviceId: string;
  orgId: string;
  partnerId: string;
  platform: Platform;
  architecture: ReleaseArchitecture | null;
  component: Component;
  current: string;
}
export type Decision = { target: Target } | { none: NoOfferReason };
export type NoOfferReason =
  | 'no_version'
  | 'manual'
  | 'unknown_version'
  | 'not_newer'
  | 'not_trusted'
  | 'halted'
  | 'ring_closed'
  | 'outside_window';

export function decide(loaded: Loaded, policy: UpdatePolicy, device: Candidate, now: Date): Decision {
  const { component, platform, architecture, current } = device;
  if (!architecture) return { none: 'no_version' };
  const pin = policy.pinnedVersion;
  if (policy.mode === 'manual' && pin === null) return { none: 'manual' };
  const target = pin
    ? targetFor(loaded, component, platform, architecture, pin)
    : latestFor(loaded, component, platform, architecture);
  if (!target) return { none: 'no_version' };
  // Development builds (`dev-…`) and other versions that cannot be compared are left alone.
  if (semver.valid(current) === null) return { none: 'unknown_version' };
  const wanted = semver.gt(target.version, current) || (pin !== null && policy.allowDowngrade);
  if (!wanted || semver.eq(target.version, current)) return { none: 'not_newer' };
  if (!target.signed || (target.expiresAt && target.expiresAt <= now)) return { none: 'not_trusted' };
  const halted = [device.orgId, device.partnerId].some((owner) =>
    loaded.halted.has(`${owner} ${component} ${target.version}`),
  );
  if (halted) return { none: 'halted' };
  const staged = policy.mode === 'staged' && pin === null;
  if (staged && !isRingOpen(policy.rings, device.deviceId, target, now)) return { none: 'ring_closed' };
  if (policy.window && !isWithin(policy.window, now)) return { none: 'outside_window' };
  return { target };
}

/** A fixed number from 0 to 99 for a device and a version: each version starts with other devices. */
export function bucketOf(deviceId: string, version: string): number {
  return createHash('sha256').update(`${deviceId}${version}`).digest().readUInt32BE() % 100;
}

const HOUR_MS = 3_600_000;
function isRingOpen(rings: readonly Ring[], deviceId: string, { version, promotedAt }: Target, now: Date): boolean {
  const bucket = bucketOf(deviceId, version);
  const ring = rings.find(({ percent }) => bucket < percent);
  return ring !== undefined && promotedAt !== null && now.getTime() >= promotedAt.getTime() + ring.delayHours * HOUR_MS;
}

const clocks = new Map<string, Intl.DateTimeFormat>();
function clockOf(timeZone: string): Intl.DateTimeFormat {
  let clock = clocks.get(timeZone);
  if (!clock) {
    clock = new Intl.DateTimeFormat('en-US', {
      ...{ timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
    });
    clocks.set(timeZone, clock);
  }
  return clock;
}

/** Uses the wall clock of the window's time zone, also when daylight saving time skips or repeats an hour. */
export function isWithin({ days, start, end, timezone }: Window, now: Date): boolean {
  const parts = Object.fromEntries(
    clockOf(timezone)
      .formatToParts(now)
      .map(({ type, value }) => [type, value]),
  );
  const time = `${parts.hour}:${parts.minute}`;
  const today = DAYS.indexOf(parts.weekday?.toLowerCase() as Day);
  const begins = (day: number) => days.includes(DAYS[(day + 7) % 7] ?? 'sun');
  if (start < end) return begins(today) && time >= start && time < end;
  return (begins(today) && time >= start) || (begins(today - 1) && time < end);
}
