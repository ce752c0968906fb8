/** The update policy of a tenant: `settings.agent-versions` of organizations and partners. */
import Joi from 'joi';
import { versionWord } from './coordinates.ts';

export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
export type Day = (typeof DAYS)[number];

export interface Ring {
  /** Cumulative share of the devices: this ring and all before it. */
  percent: number;
  /** Hours after the promotion of the version. */
  delayHours: number;
}
export interface Window {
  /** The days on which the window begins. */
  days: Day[];
  /** `HH:MM`. An end before the start is on the next day; an equal one is 24 hours later. */
  start: string;
  end: string;
  timezone: string;
}
export interface UpdatePolicy {
  mode: 'auto' | 'staged' | 'manual';
  pinnedVersion: string | null;
  /** Allows the pinned version to be lower than the installed one. */
  allowDowngrade: boolean;
  rings: Ring[];
  window: Window | null;
  /** Percent of the attempts; applies from 20 attempts. */
  haltOnFailurePercent: number;
  /** Number of devices. */
  haltOnFailureCount: number;
}

const clock = () =>
  Joi.string()
    .pattern(/^([01]\d|2[0-3]):[0-5]\d$/)
    .required();

/** Whether this server knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const rising = (rings: Ring[], tools: Joi.CustomHelpers) =>
  rings.every(({ percent, delayHours }, index) => {
    const before = rings[index - 1];
    return !before || (percent > before.percent && delayHours >= before.delayHours);
  })
    ? rings
    : tools.error('rings.rising');

export const updatePolicy = Joi.object<UpdatePolicy>({
  mode: Joi.string().valid('auto', 'staged', 'manual').default('auto'),
  pinnedVersion: versionWord().allow(null).default(null),
  allowDowngrade: Joi.boolean().default(false),
  rings: Joi.array()
    .items(
      Joi.object({
        percent: Joi.number().integer().min(1).max(100).required(),
        delayHours: Joi.number().integer().min(0).max(8760).required(),
      }),
    )
    .min(1)
    .max(20)
    .custom(rising)
    .messages({ 'rings.rising': '{{#label}} must increase in percent and not decrease in delayHours' })
    .default([
      { percent: 5, delayHours: 0 },
      { percent: 25, delayHours: 24 },
      { percent: 100, delayHours: 72 },
    ]),
  window: Joi.object({
    days: Joi.array()
      .items(Joi.string().valid(...DAYS))
      .min(1)
      .unique()
      .required(),
    start: clock(),
    end: clock(),
    timezone: Joi.string()
      .max(50)
      .custom((name: string, tools) => (isTimeZone(name) ? name : tools.error('any.invalid')))
      .required(),
  })
    .allow(null)
    .default(null),
  haltOnFailurePercent: Joi.number().integer().min(1).max(100).default(5),
  haltOnFailureCount: Joi.number().integer().min(1).max(100_000).default(20),
});
