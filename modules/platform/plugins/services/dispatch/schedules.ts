/** Schedules and collectors of enabled plugins: their next runs, and those that are due. */
import { announceDue, type Context, momentsAround } from '#core';
import type { Manifest } from '#plugin-sdk/host';

const BATCH_SIZE = 500;

/** Replaces the schedules of an installation by those of its manifest. */
export async function arrangeSchedules(
  ctx: Context,
  place: { id: string; orgId: string | null; partnerId: string | null },
  manifest: Manifest,
): Promise<void> {
  const rows = [
    ...(manifest.schedules ?? []).map(({ name, cron }) => ({ kind: 'schedule', name, cron })),
    ...(manifest.providers ?? []).flatMap(({ kind, key, cron }) =>
      kind === 'collector' && cron ? [{ kind, name: key, cron }] : [],
    ),
  ].flatMap((row) => {
    const { next } = momentsAround({ cron: row.cron }, new Date());
    return next ? [{ ...row, next: next.toISOString() }] : [];
  });
  await clearSchedules(ctx, place.id);
  if (rows.length === 0) return;
  await ctx.sql(
    `insert into plugin_schedules (installation_id, org_id, partner_id, kind, name, cron, next_run_at)
     select $1, $2, $3, kind, name, cron, next from jsonb_to_recordset($4::jsonb) as s (kind text, name text, cron text, next timestamptz)`,
    [place.id, place.orgId, place.partnerId, JSON.stringify(rows)],
  );
}

export async function clearSchedules(ctx: Context, id: string): Promise<void> {
  await ctx.sql('delete from plugin_schedules where installation_id = $1', [id]);
}

interface Due {
  installationId: string;
  kind: string;
  name: string;
  cron: string;
  at: Date;
}

/**
 * Platform role. Runs that were missed while no worker ran are made up for by one. A second run within a minute finds none due.
 * Schedules of a partner's plugin run once for each organization that it serves. Runs that come round while plugins are
 * switched off for an organization are not made up for.
 */
export async function tickSchedules(ctx: Context): Promise<number> {
  const { rows } = await ctx.sql<Due & Record<string, unknown>>(
    `select s.installation_id as "installationId", s.kind, s.name, s.cron, s.next_run_at as at
     from plugin_schedules s join plugin_installations i on i.id = s.installation_id
     where s.next_run_at <= now() and i.enabled and i.status = 'installed'
     order by s.next_run_at limit ${BATCH_SIZE} for update of s skip locked`,
  );
  const now = new Date();
  const without = ctx.services.modules.orgsWithout('plugins');
  for (const { installationId, kind, name, cron, at } of rows) {
    const { next } = momentsAround({ cron }, now);
    await ctx.sql(
      `with moved as (
         update plugin_schedules set next_run_at = $5
         where installation_id = $1 and kind = $2 and name = $3 and next_run_at = $4 returning installation_id, org_id, partner_id)
       insert into plugin_queue (installation_id, org_id, key, kind, body)
       select installation_id, o.id, $6, $2, $7::json
       from moved join organizations o on o.id = moved.org_id or o.partner_id = moved.partner_id
       where o.deleted_at is null and o.id <> all ($8::uuid[]) and moved.installation_id in (select s.id from plugins_serving(o.id) s)
       on conflict do nothing`,
      [
        ...[installationId, kind, name, at, next ?? 'infinity'],
        `${kind}:${name}:${at.toISOString()}`,
        JSON.stringify({ name, at: at.toISOString(), data: {} }),
        without,
      ],
    );
  }
  if (rows.length > 0) announceDue(ctx, 'plugins');
  return rows.length;
}
