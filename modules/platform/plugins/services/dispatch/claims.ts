/** Takes what is due for this process, a few of each installation: a lease that ends by itself if the process dies. */
import { randomUUID } from 'node:crypto';
import type { Context, Room } from '#core';

/** Under way for one installation in one organization at a time, over all processes. */
export const PER_INSTALLATION = 4;
/** Longer than the longest call, its grace and the writing of its result. */
const LEASE_SECONDS = 45;

export interface Claim {
  id: string;
  lease: string;
  installationId: string;
  orgId: string;
  /** Of the installation, where it is a partner's. */
  partnerId: string | null;
  kind: 'event' | 'schedule' | 'collector' | 'once';
  key: string;
  body: Record<string, unknown>;
  depth: number;
  attempts: number;
}

// Walks from lane to lane (an installation in an organization) along the index and looks at a few rows of each, however
// long its queue is; those of one installation take turns with those of others, however many organizations it serves.
const CLAIM = `
with recursive lane as (
  (select installation_id, org_id from plugin_queue order by installation_id, org_id limit 1)
  union all
  select following.installation_id, following.org_id from lane cross join lateral (
    select q.installation_id, q.org_id from plugin_queue q
    where (q.installation_id, q.org_id) > (lane.installation_id, lane.org_id)
    order by q.installation_id, q.org_id limit 1) following),
open as (
  select i.id, lane.org_id, leased.n, leased.of_all
  from lane join plugin_installations i on i.id = lane.installation_id
    cross join lateral (select count(*) filter (where q.org_id = lane.org_id) as n, count(*) as of_all from plugin_queue q
      where q.installation_id = i.id and q.leased_until > now()) leased
  where i.enabled and i.status = 'installed' and leased.n < ${PER_INSTALLATION} and lane.org_id <> all($5::uuid[])),
due as (
  select open.id as installation_id, q.id, q.due_at, open.id = any($3::uuid[]) as quick,
    open.of_all + row_number() over (partition by open.id order by q.due_at) as turn
  from open cross join lateral (
    select q.id, q.due_at from plugin_queue q where q.installation_id = open.id and q.org_id = open.org_id and q.due_at <= now()
    order by q.due_at limit ${PER_INSTALLATION} - open.n for update skip locked) q),
ranked as (
  select due.*, row_number() over (partition by quick order by turn, due_at) as place from due),
chosen as (
  select * from ranked where quick or place <= $2 order by turn, due_at limit $1)
update plugin_queue q set lease = $4, leased_until = now() + interval '${LEASE_SECONDS} seconds',
  due_at = now() + interval '${LEASE_SECONDS} seconds'
from chosen c where q.id = c.id
returning q.id, q.lease, q.installation_id as "installationId", q.org_id as "orgId", q.kind, q.key, q.body, q.depth, q.attempts,
  (select i.partner_id from plugin_installations i where i.id = q.installation_id) as "partnerId"`;

/** Platform role; the dispatcher's processes take turns. @param without organizations for which plugins are off */
export async function claim(
  ctx: Context,
  { free, othersFree, quick }: Room,
  without: readonly string[],
): Promise<Claim[]> {
  const values = [free, Math.max(0, othersFree), quick, randomUUID(), without];
  const { rows } = await ctx.sql<Claim & Record<string, unknown>>(CLAIM, values, 'plugins-claim');
  return rows;
}
