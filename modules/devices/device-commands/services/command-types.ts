/** The commands that users can send: payload, delivery deadline and execution time of each. */
import Joi from 'joi';
import { LOG_LEVELS, MAX_LOG_LEVEL_MINUTES } from '#agent-protocol';
import { type Context, errors } from '#core';
import { UseDedicatedEndpoint } from '../errors.ts';

export interface CommandType {
  payload: Joi.ObjectSchema;
  /** Hours until an undelivered command expires. */
  deliverHours: number;
  /** Seconds it may run once delivered. */
  executionSeconds: number;
  /** At most one open command of this type for each device. */
  single?: boolean;
  mfa?: boolean;
  /** Fields of the payload that are sealed in the row. */
  secrets?: readonly string[];
  targetRole?: 'watchdog';
  /** Takes back what another command did; it does not wait for approval. */
  takesBack?: boolean;
  /** Carried out by another device (services/wakes.ts), and therefore not available in bulk. */
  relayed?: boolean;
}

const empty = Joi.object({});
const power = { deliverHours: 24, executionSeconds: 1800 };
const quick = { deliverHours: 24, executionSeconds: 300 };

export const COMMAND_TYPES: Readonly<Record<string, CommandType>> = {
  refresh_inventory: { payload: empty, deliverHours: 24, executionSeconds: 1800, single: true },
  reboot: { ...power, payload: Joi.object({ delayMinutes: Joi.number().integer().min(0).max(1440) }) },
  schedule_reboot: {
    ...power,
    payload: Joi.object({
      minutes: Joi.number().integer().min(1).max(10_080).required(),
      message: Joi.string().max(200),
    }),
  },
  cancel_reboot: { ...power, payload: empty, takesBack: true },
  reboot_safe_mode: { ...power, payload: empty, mfa: true },
  shutdown: { ...power, payload: Joi.object({ delayMinutes: Joi.number().integer().min(0).max(1440) }), mfa: true },
  lock: { ...quick, payload: empty },
  wake: { payload: empty, deliverHours: 1 / 12, executionSeconds: 60, relayed: true },
  set_auto_update: { ...quick, payload: Joi.object({ enabled: Joi.boolean().required() }), single: true },
  set_log_level: {
    ...quick,
    payload: Joi.object({
      level: Joi.string()
        .valid(...LOG_LEVELS)
        .required(),
      durationMinutes: Joi.number().integer().min(0).max(MAX_LOG_LEVEL_MINUTES).default(60),
    }),
  },
  update_agent: {
    payload: Joi.object({ version: Joi.string().max(50) }),
    deliverHours: 168,
    executionSeconds: 1800,
    single: true,
  },
  restart_agent: { ...quick, payload: empty, targetRole: 'watchdog' },
};

/** Types that features own; each has its own endpoint, permission and records. */
const OWNED =
  /^(script|patch_scan|install_patches|rollback_patches|security_scan|threat_\w+|software_\w+|uninstall_agent)$/;

/** The module that owns commands of this type, if any. */
export const ownerOf = (ctx: Context, type: string) =>
  ctx.contributions('device-commands.command').find(({ types }) => types.has(type));

/** Returns the type and the validated payload. Throws USE_DEDICATED_ENDPOINT or VALIDATION_ERROR for what cannot be sent. */
export function mustBeSendable(ctx: Context, type: string, payload: Record<string, unknown> = {}) {
  if (OWNED.test(type) || ownerOf(ctx, type)) throw UseDedicatedEndpoint();
  const known = Object.hasOwn(COMMAND_TYPES, type) ? COMMAND_TYPES[type] : undefined;
  if (!known) {
    const message = `"type" must be one of ${Object.keys(COMMAND_TYPES).join(', ')}`;
    throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'type', message }] });
  }
  const { error, value } = known.payload.validate(payload, { abortEarly: false });
  if (error) {
    const details = error.details.map(({ path, message }) => ({
      in: 'payload',
      path: ['payload', ...path].join('.'),
      message,
    }));
    throw errors.ValidationFailed({ message: error.message, details });
  }
  return { known, payload: value as Record<string, unknown> };
}
