/** What is handed to a plugin: which handlers an entry of its queue is for, and what follows when one fails. */
import { matchesFilter } from '../manifest/filter.ts';
import type { Manifest } from '../manifest/types.ts';

export interface Entry {
  kind: 'event' | 'schedule' | 'collector' | 'once';
  body: Record<string, unknown>;
}
export interface Step {
  handler: string;
  /** What the log says it was: `device.online`. */
  hook: string;
  timeoutMs?: number;
  /** Its result goes into these custom fields. */
  collector?: { key: string; fields: string[] };
}

export function stepsOf({ hooks = [], schedules = [], providers = [] }: Manifest, { kind, body }: Entry): Step[] {
  if (kind === 'event') {
    const fitting = hooks.filter(({ event, filter }) => event === body.type && matchesFilter(filter, body));
    return fitting.map(({ event, handler, timeoutMs }) => ({
      handler,
      hook: event,
      ...(timeoutMs ? { timeoutMs } : {}),
    }));
  }
  const name = String(body.name);
  if (kind === 'once') return [{ handler: name, hook: `once ${name}` }];
  if (kind === 'schedule') {
    return schedules.filter((one) => one.name === name).map(({ handler }) => ({ handler, hook: `schedule ${name}` }));
  }
  return providers
    .filter((one) => one.kind === 'collector' && one.key === name)
    .map(({ key, fields = [], handlers }) => ({
      handler: handlers.collect ?? '',
      hook: `collector ${key}`,
      collector: { key, fields },
    }));
}

/** What the handler of a step is given. @param key of the entry: the same for repeats */
export const inputOf = ({ kind, body }: Entry, { collector }: Step, key: string): Record<string, unknown> =>
  kind === 'event' ? body : { ...body, id: key, ...(collector ? { fields: collector.fields } : {}) };

/** Seconds after the first failure, the second, and so on; one attempt more than there are delays. */
export const RETRY_SECONDS = [5, 30, 120, 600];
const MAX_ATTEMPTS = RETRY_SECONDS.length + 1;
/** Longest time that a plugin may ask to wait. */
const MAX_DELAY_SECONDS = 3_600;

export interface Failure {
  code: string;
  afterMs: number | null;
}
export interface Conclusion {
  /** `released`: it was not the plugin's turn at all, so nothing is counted. */
  status: 'later' | 'released' | 'dropped';
  seconds: number;
}

/** @param attempts that failed before this one */
export function afterFailure({ code, afterMs }: Failure, attempts: number): Conclusion {
  const asked = afterMs === null ? null : Math.min(afterMs / 1_000, MAX_DELAY_SECONDS);
  if (code === 'BUSY') return { status: 'released', seconds: asked ?? 1 };
  if (code === 'PERMANENT' || attempts + 1 >= MAX_ATTEMPTS) return { status: 'dropped', seconds: 0 };
  return { status: 'later', seconds: asked ?? RETRY_SECONDS[attempts] ?? MAX_DELAY_SECONDS };
}

/** What a collector found of the fields that its manifest names, and what else it found. */
export function declaredFields(found: Record<string, unknown>, fields: readonly string[]) {
  return {
    declared: Object.fromEntries(Object.entries(found).filter(([key]) => fields.includes(key))),
    others: Object.keys(found).filter((key) => !fields.includes(key)),
  };
}
