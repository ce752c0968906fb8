/** Writes what came of attempts, many at a time, and draws the conclusions for their installations. */
import type { Context } from '#core';
import { asOwner, noteCalls } from '../installations/standing.ts';
import type { PluginHost } from '../running/host.ts';
import type { Result } from './attempts.ts';

// Only where the lease is still held: somebody else has it otherwise, or the installation is gone.
const WRITE = `
with r as (select * from jsonb_to_recordset($1::jsonb) as r (id uuid, lease uuid, status text, seconds float8)),
over as (
  delete from plugin_queue q using r where q.id = r.id and q.lease = r.lease and r.status in ('done', 'dropped'))
update plugin_queue q set due_at = now() + make_interval(secs => r.seconds), lease = null, leased_until = null,
  attempts = q.attempts + case when r.status = 'later' then 1 else 0 end
from r where q.id = r.id and q.lease = r.lease and r.status in ('later', 'released')`;

/** Platform role; the dispatcher's processes take turns. */
export async function writeResults(ctx: Context, results: readonly Result[]): Promise<void> {
  const rows = results.map(({ claim: { id, lease }, status, seconds }) => ({ id, lease, status, seconds }));
  await ctx.sql(WRITE, [JSON.stringify(rows)], 'plugins-results');
}

/** After the results are in: how each installation fares, in its own organization's work. */
export async function concludeResults(host: PluginHost, results: readonly Result[]): Promise<void> {
  const byInstallation = new Map<string, Result[]>();
  for (const result of results) {
    const { installationId, orgId, key } = result.claim;
    byInstallation.set(installationId, [...(byInstallation.get(installationId) ?? []), result]);
    if (result.status !== 'dropped') continue;
    const message = `${key} was given up: ${result.message}`;
    host.logs.write({ installationId, orgId, level: 'error', message });
  }
  for (const [id, all] of byInstallation) {
    const { orgId = null, partnerId = null } = all[0]?.claim ?? {};
    const outcomes = all.flatMap((one) => one.outcomes);
    await asOwner(host.services, { id, orgId, partnerId }, (ctx) => noteCalls(ctx, id, outcomes));
  }
}
