/** A module's settings for a tenant: the schema's defaults, then the partner's values, then the organization's. */
import type Joi from 'joi';
import type { Context } from '../context/index.ts';

/**
 * Values live under `settings.<module>` of partners and organizations, where tenancy's endpoints write them. Values that
 * the schema no longer accepts fall back to the level above instead of failing the work that reads them.
 */
export async function readSettings(
  ctx: Context,
  module: string,
  schema: Joi.ObjectSchema,
  orgId: string | null,
): Promise<unknown> {
  const levels: unknown[] = [];
  if (orgId) {
    const { rows } = await ctx.sql<{ org: unknown; partner: unknown }>(
      `select o.settings -> $2 as org, p.settings -> $2 as partner
       from organizations o left join partners p on p.id = o.partner_id where o.id = $1`,
      [orgId, module],
      'core-settings',
    );
    levels.push(rows[0]?.partner, rows[0]?.org);
  }
  let merged = schema.validate({}, { stripUnknown: true }).value as Record<string, unknown>;
  for (const level of levels) {
    if (level === null || typeof level !== 'object') continue;
    const { error, value } = schema.validate({ ...merged, ...level }, { stripUnknown: true });
    if (!error) merged = value;
  }
  return merged;
}

export interface SettingsFault {
  /** Within the module's part; empty for the part as a whole. */
  path: string;
  message: string;
}

/** Checks values for one level against a module's schema; unknown keys are faults here. */
export function settingsFaults(schema: Joi.ObjectSchema, values: unknown): SettingsFault[] {
  const { error } = schema.validate(values, { abortEarly: false });
  return (error?.details ?? []).map(({ path, message }) => ({ path: path.join('.'), message }));
}
