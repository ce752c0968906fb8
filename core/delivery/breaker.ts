/** The circuit breaker of a queue: a host whose connections fail one after another is paused, whichever receivers lie there. */
import type { Context } from '../context/index.ts';
import type { DeliveryResult } from '../contract/index.ts';

/** Connection errors in a row that pause a host. */
const MAX_ERRORS = 5;
const PAUSE_SECONDS = 60;

/** The next messages to the host are tried at once; a further connection error pauses it again. Platform role. */
export async function reopenHost(ctx: Context, queue: string, host: string): Promise<void> {
  await ctx.sql('update delivery_hosts set paused_until = null where queue = $1 and host = $2', [queue, host]);
}

/** One connection that is made ends the row of errors. Runs no statement while all is well. */
export async function noteHosts(ctx: Context, queue: string, results: readonly DeliveryResult[]): Promise<void> {
  const reached = new Set<string>();
  const failed = new Map<string, number>();
  for (const { message, outcome } of results) {
    if (message.host && message.hostFails && outcome.connected === true) reached.add(message.host);
  }
  for (const { message, outcome } of results) {
    const { host } = message;
    if (host && outcome.connected === false && !reached.has(host)) failed.set(host, (failed.get(host) ?? 0) + 1);
  }
  if (reached.size > 0) {
    await ctx.sql('delete from delivery_hosts where queue = $1 and host = any ($2)', [queue, [...reached]]);
  }
  if (failed.size === 0) return;
  await ctx.sql(
    `insert into delivery_hosts as h (queue, host, failures, paused_until)
     select $1, host, n, case when n >= $4 then now() + make_interval(secs => $5) end
     from unnest($2::text[], $3::int[]) x (host, n)
     on conflict (queue, host) do update set failures = h.failures + excluded.failures,
       paused_until = case when h.failures + excluded.failures >= $4 then now() + make_interval(secs => $5) end`,
    [queue, [...failed.keys()], [...failed.values()], MAX_ERRORS, PAUSE_SECONDS],
  );
}
