/** Schedules and collectors of enabled plugins, by the module `schedules`: what comes round goes into the plugins' queue. */
import { announceDue, type Context } from '#core';
import type { Manifest } from '#plugin-sdk/host';

/** What plugins schedule: `<kind>` is the kind of the message in the queue. */
export const SCHEDULED = ['schedule', 'collector'] as const;
export type Scheduled = (typeof SCHEDULED)[number];

interface Owned {
  id: string;
  orgId: string | null;
  partnerId: string | null;
}

/** Replaces the schedules of an installation by those of its manifest. What was missed is made up for by one run. */
export async function arrangeSchedules(
  ctx: Context,
  { id, orgId, partnerId }: Owned,
  manifest: Manifest,
): Promise<void> {
  const owner = orgId ? { orgId } : { partnerId: partnerId ?? '' };
  const wanted = {
    schedule: (manifest.schedules ?? []).map(({ name, cron }) => ({ name, cron })),
    collector: (manifest.providers ?? []).flatMap(({ kind, key: name, cron }) =>
      kind === 'collector' && cron ? [{ name, cron }] : [],
    ),
  };
  for (const kind of SCHEDULED) {
    const except = wanted[kind].map(({ name }) => name);
    await ctx.use('schedules').removeSchedules({ kind: `plugins.${kind}`, ownerId: id, except });
    for (const { name, cron } of wanted[kind])
      await ctx.use('schedules').setSchedule(owner, {
        ...{ kind: `plugins.${kind}`, ownerId: id, name, recurrence: { cron }, zones: ['UTC'], catchUp: 'once' },
      });
  }
}

export async function clearSchedules(ctx: Context, id: string): Promise<void> {
  for (const kind of SCHEDULED) await ctx.use('schedules').removeSchedules({ kind: `plugins.${kind}`, ownerId: id });
}

/**
 * Puts what has come round into the queue. Schedules of a partner's plugin run once for each organization that it serves, except
 * where plugins are switched off.
 */
export async function queueDue(
  ctx: Context,
  kind: Scheduled,
  occurrences: readonly { ownerId: string; name: string; orgId: string | null; partnerId: string | null; slot: Date }[],
): Promise<void> {
  const rows = occurrences.map(({ ownerId, name, orgId, partnerId, slot }) => {
    const at = slot.toISOString();
    return { ownerId, orgId, partnerId, key: `${kind}:${name}:${at}`, body: JSON.stringify({ name, at, data: {} }) };
  });
  await ctx.sql(
    `insert into plugin_queue (installation_id, org_id, key, kind, body)
     select i.id, o.id, d.key, $2, d.body::json
     from jsonb_to_recordset($1::jsonb) d ("ownerId" uuid, "orgId" uuid, "partnerId" uuid, key text, body text)
     join plugin_installations i on i.id = d."ownerId" and i.enabled and i.status = 'installed'
     join organizations o on o.id = d."orgId" or o.partner_id = d."partnerId"
     where o.deleted_at is null and o.id <> all ($3::uuid[]) and i.id in (select s.id from plugins_serving(o.id) s)
     on conflict do nothing`,
    [JSON.stringify(rows), kind, ctx.services.modules.orgsWithout('plugins')],
  );
  announceDue(ctx, 'plugins');
}
