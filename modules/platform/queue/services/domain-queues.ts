/** Waiting work in tables of other modules: counted once a minute through the slot, and listed from those counts. */
import type { Context } from '#core';
import type { DomainQueue, DomainQueueRow } from '../models/domain-queue.ts';

export const DOMAIN_COLUMNS = `name, title, pending, extract(epoch from now() - oldest_at)::float8 as "oldestAgeSec", failed,
  link, counted_at as "countedAt"`;

/** Every queue that a module contributes: one that has not been counted yet, as in the first minute after a start, is counted now. */
export async function domainQueues(ctx: Context): Promise<DomainQueueRow[]> {
  const counted = new Set((await countedQueues(ctx)).map(({ name }) => name));
  const missing = ctx.contributions('queue.domain-queue').filter(({ name }) => !counted.has(name));
  for (const queue of missing) await ctx.asPlatform((own) => countQueue(own, queue));
  return countedQueues(ctx);
}

async function countedQueues(ctx: Context): Promise<DomainQueueRow[]> {
  const { rows } = await ctx.sql<DomainQueueRow>(
    `select ${DOMAIN_COLUMNS} from domain_queues where counted_at > now() - interval '1 day' order by name`,
  );
  return rows;
}

/** Counts one queue. When counting fails, the last figures stay and their age shows it. */
export async function countQueue(ctx: Context, queue: DomainQueue): Promise<void> {
  await ctx.sql(`set local statement_timeout = '2s'`);
  const { pending, oldestAt, failed } = await queue.count(ctx);
  await ctx.sql(
    `insert into domain_queues (name, title, pending, oldest_at, failed, link) values ($1, $2, $3, $4, $5, $6)
     on conflict (name) do update set title = excluded.title, pending = excluded.pending, oldest_at = excluded.oldest_at,
       failed = excluded.failed, link = excluded.link, counted_at = now()`,
    [queue.name, queue.title, pending, oldestAt, failed, queue.link],
  );
}
