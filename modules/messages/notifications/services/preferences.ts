/** What the caller wants to hear of: one row for each type about which something was said. */
import { type Context, errors, mustAccessOrg } from '#core';
import { TYPES } from '../models/notice.ts';
import { DEFAULTS, type Preference } from '../models/preference.ts';

const COLUMNS = `type, in_app as "inApp", email, email_from as "emailFrom", push, push_from as "pushFrom",
  min_priority as "minPriority", quiet_hours as "quietHours", digest, org_ids as "orgIds"`;

/** Of every type, in their order. */
export async function listPreferences(ctx: Context) {
  const { rows } = await ctx.sql<Preference & Record<string, unknown>>(
    `select ${COLUMNS} from notification_preferences where user_id = $1`,
    [ctx.actor.id],
  );
  return { data: TYPES.map((type) => rows.find((row) => row.type === type) ?? { type, ...DEFAULTS }) };
}

/** Replaces all; types that are not named have their defaults again. Throws 400 for a zone the database does not know. */
export async function replacePreferences(ctx: Context, preferences: readonly Preference[]) {
  const before = await listPreferences(ctx);
  for (const orgId of new Set(preferences.flatMap(({ orgIds }) => orgIds ?? []))) mustAccessOrg(ctx, orgId);
  await mustKnowZones(ctx, preferences);
  await ctx.sql('delete from notification_preferences where user_id = $1', [ctx.actor.id]);
  await ctx.sql(
    `insert into notification_preferences (user_id, type, in_app, email, email_from, push, push_from, min_priority,
       quiet_hours, digest, org_ids)
     select $1, p.type, p."inApp", p.email, p."emailFrom", p.push, p."pushFrom", p."minPriority", p."quietHours", p.digest,
       p."orgIds"
     from jsonb_to_recordset($2) as p (type text, "inApp" boolean, email text, "emailFrom" text, push boolean,
       "pushFrom" text, "minPriority" text, "quietHours" jsonb, digest jsonb, "orgIds" uuid[])
     on conflict (user_id, type) do nothing`,
    [ctx.actor.id, JSON.stringify(preferences)],
  );
  const after = await listPreferences(ctx);
  const changed = after.data.filter((one, at) => JSON.stringify(one) !== JSON.stringify(before.data[at]));
  if (changed.length === 0) ctx.unchanged();
  else {
    ctx.audit('notification.preferences.update', {
      resourceType: 'notification_preferences',
      resourceId: ctx.actor.id,
      details: { types: changed.map(({ type }) => type) },
    });
  }
  return after;
}

/** This runtime and the database have lists of their own. */
async function mustKnowZones(ctx: Context, preferences: readonly Preference[]): Promise<void> {
  const named = preferences.map(({ quietHours, digest }) => [quietHours?.timezone, digest.timezone]);
  const zones = [...new Set(named.flat())].filter((zone) => zone !== undefined && zone !== 'UTC');
  if (zones.length === 0) return;
  const { rows } = await ctx.sql<{ zone: string }>(
    `select zone from unnest($1::text[]) zone
     where lower(zone) not in (select lower(name) from pg_timezone_names)`,
    [zones],
  );
  const [unknown] = rows;
  if (!unknown) return;
  const at = named.findIndex((pair) => pair.includes(unknown.zone));
  const message = `${unknown.zone} is no time zone that the database knows`;
  throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: `preferences.${at}`, message }] });
}
