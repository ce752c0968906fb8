/** Writes what came of attempts, many at a time, and draws the conclusions for webhooks and hosts. */
import type { Context } from '#core';
import { concludeFailures, type Standing } from '../failures.ts';
import type { Result } from './attempts.ts';

/** Connection errors in a row after which a host is spared, and for how long. */
const BREAKER = { errors: 5, seconds: 60 };

// Only for deliveries whose lease is still held: somebody else has them otherwise, or the webhook is gone.
const WRITE = `
with r as (
  select * from jsonb_to_recordset($1::jsonb) as r (id uuid, lease uuid, status text, seconds float8, "responseStatus" integer,
    "responseBody" text, "responseTimeMs" integer, "errorMessage" text, "errorCode" text, gone boolean)),
held as (
  select r.*, q.test from r join webhook_queue q on q.delivery_id = r.id and q.lease = r.lease for update of q),
over as (
  delete from webhook_queue q using held h where q.delivery_id = h.id and h.status in ('delivered', 'failed')),
later as (
  update webhook_queue q set due_at = now() + make_interval(secs => h.seconds), lease = null, leased_until = null
  from held h where q.delivery_id = h.id and h.status in ('retrying', 'released')),
noted as (
  update webhook_deliveries d set status = h.status, attempts = d.attempts + 1,
    next_retry_at = now() + make_interval(secs => h.seconds), response_status = h."responseStatus",
    response_body = h."responseBody", response_time_ms = h."responseTimeMs", error_message = h."errorMessage",
    error_code = h."errorCode", delivered_at = case when h.status = 'delivered' then now() end
  from held h where d.id = h.id and h.status <> 'released' and d.status in ('pending', 'retrying')
  returning d.webhook_id, h.status, h.test, h.gone),
sums as (
  select webhook_id, count(*) filter (where status = 'delivered') as good,
    count(*) filter (where status = 'failed' and not test) as bad,
    bool_or(status <> 'delivered' and not test) as missed, bool_or(status = 'delivered' and test) as proven,
    bool_or(gone and not test) as gone
  from noted group by webhook_id),
counted as (
  insert into webhook_counts as c (webhook_id, hour, org_id, partner_id, delivered, failed)
  select s.webhook_id, date_trunc('hour', now()), w.org_id, w.partner_id, s.good, s.bad
  from sums s join webhooks w on w.id = s.webhook_id where s.good + s.bad > 0
  on conflict (webhook_id, hour) do update set delivered = c.delivered + excluded.delivered, failed = c.failed + excluded.failed)
update webhooks w set last_delivery_at = now(),
  last_success_at = case when s.good > 0 then now() else w.last_success_at end,
  success_count = w.success_count + s.good, failure_count = w.failure_count + s.bad,
  consecutive_failures = case when s.good > 0 then 0 else w.consecutive_failures + s.bad end,
  noticed = case when s.good > 0 then 0 else w.noticed end,
  first_failure_at = case when s.good > 0 then null when s.missed then coalesce(w.first_failure_at, now()) else w.first_failure_at end
from sums s where w.id = s.webhook_id and w.deleted_at is null
returning w.id, w.org_id as "orgId", w.partner_id as "partnerId", w.name, w.status, w.noticed,
  w.consecutive_failures as "consecutiveFailures", w.first_failure_at as "firstFailureAt", s.proven, s.gone`;

/** Platform role; the dispatcher's processes take turns. */
export async function writeResults(ctx: Context, results: readonly Result[]): Promise<void> {
  const { rows } = await ctx.sql<Standing & Record<string, unknown>>(
    WRITE,
    [JSON.stringify(results)],
    'webhooks-results',
  );
  await noteHosts(ctx, results);
  await concludeFailures(ctx, rows);
}

/** A host comes to be spared when connections fail in a row, whoever's webhooks they are for; one success ends it. */
async function noteHosts(ctx: Context, results: readonly Result[]): Promise<void> {
  const reached = new Set(results.filter(({ connected }) => connected === true).map(({ host }) => host));
  const failed = new Map<string, number>();
  for (const { host, connected } of results) {
    if (connected === false && !reached.has(host)) failed.set(host, (failed.get(host) ?? 0) + 1);
  }
  if (reached.size > 0) await ctx.sql('delete from webhook_hosts where host = any($1)', [[...reached]]);
  if (failed.size === 0) return;
  await ctx.sql(
    `insert into webhook_hosts as h (host, failures, paused_until)
     select host, n, case when n >= $3 then now() + make_interval(secs => $4) end
     from unnest($1::text[], $2::int[]) x (host, n)
     on conflict (host) do update set failures = h.failures + excluded.failures,
       paused_until = case when h.failures + excluded.failures >= $3 then now() + make_interval(secs => $4) end`,
    [[...failed.keys()], [...failed.values()], BREAKER.errors, BREAKER.seconds],
  );
}
