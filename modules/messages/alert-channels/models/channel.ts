/** A channel: where an organization, or a partner for all of its organizations, wants alerts sent. */
import Joi from 'joi';
import { column, defineTable, type InputOf, named, openObject, type PageQuery, pageQuery, timezone } from '#core';
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
export interface ChannelQuery extends PageQuery {
  orgId?: string;
  type?: string;
  health?: Health;
}

/** Consecutive failed messages after which a channel is disabled. */
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
const channels = defineTable('alert_channels', {
  id: column.uuid(),
  orgId: column.nullable(column.text()),
  partnerId: column.nullable(column.text()),
  name: column.text(Joi.string().trim().normalize('NFC').min(1).max(100)),
  type: column.text(Joi.string().max(50)),
  enabled: column.boolean(),
  /** As it is shown: without what is in `secrets`. */
  config: column.of<Config>(
    openObject(65_536).description('By type, see the description of the operation'),
    Joi.object().unknown().description('Secrets masked'),
  ),
  /** Sealed, by key of the configuration. */
  secrets: column.object<Record<string, string>>(),
  minSeverity: column.of<Severity>(Joi.string().valid(...SEVERITIES), Joi.string()),
  throttleMax: column.integer(Joi.number().integer().min(1).max(1000)),
  throttleWindowSeconds: column.integer(
    Joi.number()
      .integer()
      .min(60)
      .max(86_400)
      .description('Messages beyond throttleMax in a window go out as one digest at its end'),
  ),
  quietHours: column.of<QuietHours | null>(
    quietHours.allow(null).description('Messages wait until they are over'),
    Joi.object().unknown().allow(null),
  ),
  health: column.oneOf<Health>('ok', 'failing', 'disabled_by_system'),
  lastDeliveryAt: column.nullable(column.time()),
  lastError: column.nullable(column.text()),
  consecutiveFailures: column.of<number>(
    Joi.number().integer(),
    Joi.number().integer().description('Messages in a row that failed for good'),
  ),
  windowStartedAt: column.nullable(column.time()),
  windowCount: column.integer(),
  createdBy: column.nullable(column.text()),
  createdAt: column.time(),
  updatedAt: column.time(),
});

export class Channel extends channels.Model {
  static override partnerOwned = true;
  static override jsonAttributes = ['config', 'secrets', 'quietHours'];
}

const LIMITS = ['minSeverity', 'throttleMax', 'throttleWindowSeconds', 'quietHours'] as const;
const update = channels.input(['name', 'enabled', 'config', ...LIMITS]);
export type ChannelUpdate = InputOf<typeof update>;
export const channelUpdate = named(
  'AlertChannelUpdate',
  update
    .fork('enabled', (schema) =>
      schema.description('true also enables again a channel that was disabled because its messages failed'),
    )
    .fork('config', (schema) =>
      schema.description('Keys that are left out stay, null clears. Another destination needs the secrets again'),
    ),
);

const created = channels.input(['name', 'enabled', 'config', ...LIMITS, 'type'], {
  required: ['name', 'type', 'config'],
});
export type ChannelCreate = InputOf<typeof created> & { orgId?: string; partnerId?: string };
export const channelCreate = named(
  'AlertChannelCreate',
  created.append<ChannelCreate>({
    orgId: Joi.string().uuid(),
    partnerId: Joi.string().uuid().description('For the alerts of all organizations of the partner'),
  }),
);
export const channelQuery = Joi.object<ChannelQuery>({
  ...pageQuery(100),
  orgId: Joi.string().uuid(),
  type: channels.columns.type.input.description('Only channels of this type'),
  health: channels.columns.health.input.description('Only in this state'),
});

export const channelShape = named(
  'AlertChannel',
  channels
    .answer([
      ...(['id', 'orgId', 'partnerId', 'name', 'type', 'enabled', 'config', ...LIMITS] as const),
      ...(['health', 'lastDeliveryAt', 'lastError', 'consecutiveFailures'] as const),
      ...(['createdBy', 'createdAt', 'updatedAt'] as const),
    ])
    .append({
      warning: Joi.string().allow(null).required().description('What its owner should know of this kind of channel'),
    }),
);
