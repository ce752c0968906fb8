/** Preferences of a user: which notifications they receive, and by which means. */
import Joi from 'joi';
import { named, timezone } from '#core';
import { type NoticeType, type Priority, TYPES } from './notice.ts';
import { priorityName, typeName } from './notification.ts';

export interface QuietHours {
  start: string;
  end: string;
  timezone: string;
}
export interface Digest {
  every: 'hour' | 'day';
  timezone: string;
}
export interface Preference {
  type: NoticeType;
  inApp: boolean;
  email: 'none' | 'immediate' | 'digest';
  emailFrom: Priority;
  push: boolean;
  pushFrom: Priority;
  minPriority: Priority;
  quietHours: QuietHours | null;
  digest: Digest;
  orgIds: string[] | null;
}
/** Of types about which nothing was said. */
export const DEFAULTS: Omit<Preference, 'type'> = {
  inApp: true,
  email: 'immediate',
  emailFrom: 'urgent',
  push: true,
  pushFrom: 'high',
  minPriority: 'low',
  quietHours: null,
  digest: { every: 'day', timezone: 'UTC' },
  orgIds: null,
};

const clock = Joi.string().pattern(/^([01]\d|2[0-3]):[0-5]\d$/);

export const preference = named(
  'NotificationPreference',
  Joi.object<Preference, true>({
    type: typeName.required(),
    inApp: Joi.boolean().default(DEFAULTS.inApp),
    email: Joi.string().valid('none', 'immediate', 'digest').default(DEFAULTS.email),
    emailFrom: priorityName.default(DEFAULTS.emailFrom).description('Mail from this priority on'),
    push: Joi.boolean().default(DEFAULTS.push),
    pushFrom: priorityName.default(DEFAULTS.pushFrom).description('Push from this priority on'),
    minPriority: priorityName.default(DEFAULTS.minPriority).description('Nothing at all below it'),
    quietHours: Joi.object<QuietHours, true>({
      start: clock.required(),
      end: clock.required(),
      timezone: timezone.required(),
    })
      .allow(null)
      .default(null)
      .description('Mail and push wait until they are over; what is urgent does not'),
    digest: Joi.object<Digest, true>({
      every: Joi.string().valid('hour', 'day').default('day'),
      timezone: timezone.default('UTC'),
    })
      .default(DEFAULTS.digest)
      .description('When the mail of `digest` goes out: each full hour, or at 08:00'),
    orgIds: Joi.array()
      .items(Joi.string().uuid())
      .max(1000)
      .unique()
      .allow(null)
      .default(null)
      .description('Only about these organizations; null for all within reach'),
  }),
);
export interface Preferences {
  preferences: Preference[];
}
export const preferencesPayload = Joi.object<Preferences, true>({
  preferences: Joi.array().items(preference).max(TYPES.length).unique('type').required(),
});
export const preferencesShape = Joi.object({
  data: Joi.array().items(preference).required(),
});
