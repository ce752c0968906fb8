/** The health of an installation: crashes of its processes, the share of failed calls, and quarantine. */
import type { Context, StartServices } from '#core';
import quarantined from '../../events/quarantined.ts';
import { CHANGED, type Facts } from '../running/facts.ts';
import type { End, Outcome } from '../running/process/invocation.ts';

/** An installation is switched off at `most` crashes, or at a `share` of failed calls out of at least `least`, within so many `minutes`. */
const CRASHES = { most: 5, minutes: 10 };
const ERRORS = { share: 0.5, least: 20, minutes: 10 };
/** A single forged message is enough: no accident forges messages. */
const AT_ONCE: End['kind'][] = ['protocol'];
/** The first reason stays: what arrives later from the same call does not replace it. */
const SAID = `(health = 'disabled_by_system' or status = 'error')`;

export const actorOf = (installationId: string) => ({ kind: 'system' as const, id: installationId, name: 'plugin' });

/** Runs in the installation's organization, or on the platform role where it belongs to a partner. */
export function asOwner<T>(
  services: StartServices,
  { id, orgId, partnerId }: { id: string; orgId: string | null; partnerId: string | null },
  run: (ctx: Context) => Promise<T>,
): Promise<T | null> {
  return partnerId || !orgId ? services.asPlatform(run) : services.asOrganization(orgId, actorOf(id), run);
}

/** Records that a process died, and quarantines the plugin when that happens too often. */
export async function noteEnd(services: StartServices, facts: Facts, { kind, reason }: End): Promise<void> {
  await asOwner(services, facts, async (ctx) => {
    const { rows } = await ctx.sql<{ crashes: number; enabled: boolean }>(
      `update plugin_installations set restart_count = restart_count + 1,
         error_message = case when ${SAID} then error_message else $2 end,
         crashes = array(select c from unnest(crashes || now()) c
           where c > now() - interval '${CRASHES.minutes} minutes' order by c desc limit ${CRASHES.most}),
         health = case when health = 'disabled_by_system' then health else 'crashed' end
       where id = $1 and package_sha256 = $3 returning cardinality(crashes) as crashes, enabled`,
      [facts.id, reason, facts.packageSha256],
    );
    const [row] = rows;
    if (!row?.enabled) return;
    const why = AT_ONCE.includes(kind) ? reason : `${reason} (${CRASHES.most} times in ${CRASHES.minutes} minutes)`;
    if (AT_ONCE.includes(kind) || row.crashes >= CRASHES.most) await quarantine(ctx, facts.id, why);
  });
}

/** Counts calls; when more than half of at least twenty fail, the plugin is quarantined. Within `asOwner`. */
export async function noteCalls(ctx: Context, id: string, outcomes: readonly Outcome[]): Promise<void> {
  const counted = outcomes.filter((one) => one.ok || one.code !== 'BUSY');
  const errors = counted.filter((one) => !one.ok);
  const last = errors.at(-1);
  if (counted.length === 0) return;
  const stale = `window_started_at < now() - interval '${ERRORS.minutes} minutes'`;
  const { rows } = await ctx.sql<{ calls: number; errors: number; enabled: boolean }>(
    `update plugin_installations set last_active_at = now(),
       window_started_at = case when ${stale} then now() else window_started_at end,
       window_calls = case when ${stale} then 0 else window_calls end + $2,
       window_errors = case when ${stale} then 0 else window_errors end + $3,
       health = case when $3 = 0 and health = 'crashed' then 'ok' else health end,
       error_message = case when ${SAID} then error_message when $3 > 0 then $4 when health = 'crashed' then null else error_message end
     where id = $1 returning window_calls as calls, window_errors as errors, enabled`,
    [id, counted.length, errors.length, last && !last.ok ? last.message.slice(0, 2_000) : null],
    'plugins-calls',
  );
  const [row] = rows;
  if (!row?.enabled || row.calls < ERRORS.least || row.errors <= row.calls * ERRORS.share) return;
  await quarantine(
    ctx,
    id,
    `${row.errors} of ${row.calls} calls failed, the last: ${last && !last.ok ? last.message : ''}`,
  );
}

/** Disables it until it is enabled again, stores the reason, and notifies the user who installed it. */
export async function quarantine(ctx: Context, id: string, why: string): Promise<void> {
  const reason = why.slice(0, 2_000);
  const { rows } = await ctx.sql<{
    orgId: string | null;
    partnerId: string | null;
    slug: string;
    installedBy: string | null;
  }>(
    `update plugin_installations set enabled = false, health = 'disabled_by_system', error_message = $2, updated_at = now()
     where id = $1 and enabled returning org_id as "orgId", partner_id as "partnerId", slug, installed_by as "installedBy"`,
    [id, reason],
  );
  const [row] = rows;
  if (!row) return;
  const { orgId, partnerId, slug, installedBy } = row;
  await ctx.sql(
    `insert into plugin_logs (installation_id, org_id, partner_id, level, message) values ($1, $2, $3, 'error', $4)`,
    [id, orgId, partnerId, `Switched off by the system: ${reason}`.slice(0, 4_000)],
  );
  ctx.audit('plugin.quarantine', {
    ...(partnerId ? { orgId, partnerId } : { orgId }),
    actor: actorOf(id),
    resourceType: 'plugin',
    resourceId: id,
    resourceName: slug,
    details: { reason },
  });
  ctx.emit(quarantined, { installationId: id, partnerId, slug, reason }, { orgId });
  ctx.notify(CHANGED, id);
  if (installedBy) ctx.addJob('plugins/send-notice', { installationId: id, userId: installedBy, reason }, { orgId });
}
