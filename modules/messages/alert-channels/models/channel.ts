/** A channel: where an organization, or a partner for all of its organizations, wants alerts sent. */
import Joi from 'joi';
import { Model, named, openObject, type PageQuery, pageQuery, timezone } from '#core';
import { SEVERITIES, type Severity } from './message.ts';

export type Health = 'ok' | 'failing' | 'disabled_by_system';
export type Config = Record<string, unknown>;
export const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;
export interface QuietHours {
  timezone: string;
  days: (typeof DAYS)[number][];
  start: string;
  end: string;
  exceptCritical: boolean;
}
interface Changes {
  name?: string;
  enabled?: boolean;
  config?: Config;
  minSeverity?: Severity;
  throttleMax?: number;
  throttleWindowSeconds?: number;
  quietHours?: QuietHours | null;
}
export interface ChannelCreate extends Changes {
  orgId?: string;
  partnerId?: string;
  name: string;
  type: string;
  config: Config;
}
export type ChannelUpdate = Changes;
export interface ChannelQuery extends PageQuery {
  orgId?: string;
  type?: string;
  health?: Health;
}

export class Channel extends Model {
  static override tableName = 'alert_channels';
  static override partnerOwned = true;
  static override jsonAttributes = ['config', 'secrets', 'quietHours'];
  declare id: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare name: string;
  declare type: string;
  declare enabled: boolean;
  /** As it is shown. */
  declare config: Config;
  /** Sealed, by key of the configuration. */
  declare secrets: Record<string, string>;
  declare minSeverity: Severity;
  declare throttleMax: number;
  declare throttleWindowSeconds: number;
  declare quietHours: QuietHours | null;
  declare health: Health;
  declare lastDeliveryAt: Date | null;
  declare lastError: string | null;
  declare consecutiveFailures: number;
  declare windowStartedAt: Date | null;
  declare windowCount: number;
  declare createdBy: string | null;
  declare createdAt: Date;
  declare updatedAt: Date;
}

/** Messages in a row that failed, after which a channel is disabled. */
export const MAX_FAILURES = 50;

const clock = Joi.string().pattern(/^([01]\d|2[0-3]):[0-5]\d$/);
export const quietHours = named(
  'AlertChannelQuietHours',
  Joi.object<QuietHours, true>({
    timezone: timezone.required(),
    days: Joi.array()
      .items(Joi.string().valid(...DAYS))
      .min(1)
      .max(7)
      .unique()
      .default([...DAYS])
      .description('On which they begin'),
    start: clock.required(),
    end: clock.required(),
    exceptCritical: Joi.boolean().default(true),
  }),
);
const changes = {
  name: Joi.string().trim().normalize('NFC').min(1).max(100),
  enabled: Joi.boolean(),
  config: openObject(65_536).description('By type, see the description of the operation'),
  minSeverity: Joi.string().valid(...SEVERITIES),
  throttleMax: Joi.number().integer().min(1).max(1000),
  throttleWindowSeconds: Joi.number()
    .integer()
    .min(60)
    .max(86_400)
    .description('What is more than throttleMax in a window goes out as one digest at its end'),
  quietHours: quietHours.allow(null).description('Messages wait until they are over'),
};
const type = Joi.string().max(50);
export const channelCreate = named(
  'AlertChannelCreate',
  Joi.object<ChannelCreate, true>({
    ...changes,
    orgId: Joi.string().uuid(),
    partnerId: Joi.string().uuid().description('For the alerts of all organizations of the partner'),
    name: changes.name.required(),
    type: type.required(),
    config: changes.config.required(),
  }),
);
export const channelUpdate = named(
  'AlertChannelUpdate',
  Joi.object<ChannelUpdate, true>({
    ...changes,
    enabled: changes.enabled.description('true also takes back into service what was switched off because it failed'),
    config: changes.config.description(
      'Keys that are left out stay, null clears. Another destination wants the secrets again',
    ),
  }),
);
export const channelQuery = Joi.object<ChannelQuery>({
  ...pageQuery(100),
  orgId: Joi.string().uuid(),
  type: type.description('Only channels of this type'),
  health: Joi.string().valid('ok', 'failing', 'disabled_by_system').description('Only in this state'),
});

const time = Joi.date().iso().allow(null).required();
const text = Joi.string().allow(null).required();
export const channelShape = named(
  'AlertChannel',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: text,
    partnerId: text,
    name: Joi.string().required(),
    type: Joi.string().required(),
    enabled: Joi.boolean().required(),
    config: Joi.object().unknown().required().description('Secrets masked'),
    minSeverity: Joi.string().required(),
    throttleMax: Joi.number().integer().required(),
    throttleWindowSeconds: Joi.number().integer().required(),
    quietHours: Joi.object().unknown().allow(null).required(),
    health: Joi.string().valid('ok', 'failing', 'disabled_by_system').required(),
    lastDeliveryAt: time,
    lastError: text,
    consecutiveFailures: Joi.number().integer().required().description('Messages in a row that failed for good'),
    warning: text.description('What its owner should know of this kind of channel'),
    createdBy: text,
    createdAt: Joi.date().iso().required(),
    updatedAt: Joi.date().iso().required(),
  }),
);
