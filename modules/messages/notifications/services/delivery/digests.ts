/** Digests hold notices of several tenants: those of tenants that have notifications switched off leave the digest and wait alone. */
import type { ClaimedMessage, Context } from '#core';
import type { Item, QueuedMessage } from './message.ts';

/** A notice with what it belongs to. */
export type Owned = Item & {
  queueId: string;
  orgId: string | null;
  partnerId: string | null;
};
type Digest = QueuedMessage & ClaimedMessage;

/** Organizations and partners that have notifications switched off. */
export function tenantsWithout({ services: { modules } }: Context): string[] {
  return [...modules.orgsWithout('notifications'), ...modules.partnersWithout('notifications')];
}

// The row of a digest has the id of one of its deliveries. When that one leaves, the row becomes its own.
const SET_APART = `
with apart as (
  select * from unnest($1::uuid[], $2::uuid[], $3::uuid[]) x (id, tenant_id, org_id)),
alone as (
  update notification_deliveries d set digest = false from apart x
  where d.id = x.id and d.digest and d.status = 'pending' returning d.id, d.user_id)
insert into notification_queue (id, kind, tenant_id, org_id, user_id)
select a.id, 'email', x.tenant_id, x.org_id, a.user_id from alone a join apart x on x.id = a.id
on conflict (id) do update set tenant_id = excluded.tenant_id, org_id = excluded.org_id, digest_at = null,
  lease = null, leased_until = null, due_at = now()`;

const AGAIN = `
insert into notification_queue (id, kind, tenant_id, user_id, digest_at)
select * from unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::timestamptz[])
on conflict (user_id, digest_at) where digest_at is not null do nothing`;

/** Lies before all ids: the partition of digests. */
const NO_TENANT = '00000000-0000-0000-0000-000000000000';

/**
 * Takes paused notices out of their digests. Returns the ids of the messages whose row now belongs to one of these; what else
 * such a digest holds has a new row. Platform role.
 */
export async function setApart(
  ctx: Context,
  paused: readonly Owned[],
  digests: readonly (Digest & { items: readonly Item[] })[],
): Promise<ReadonlySet<string>> {
  if (paused.length === 0) return new Set();
  await ctx.sql(
    SET_APART,
    [
      paused.map(({ id }) => id),
      paused.map(({ orgId, partnerId }) => orgId ?? partnerId),
      paused.map(({ orgId }) => orgId),
    ],
    'notifications-apart',
  );
  const leaving = new Set(paused.flatMap(({ id, queueId }) => (id === queueId ? [id] : [])));
  const again = digests.flatMap(({ id, kind, userId, digestAt, items: [first] }) =>
    leaving.has(id) && first ? [{ id: first.id, kind, userId, digestAt }] : [],
  );
  if (again.length > 0) {
    const columns = [
      again.map(({ id }) => id),
      again.map(({ kind }) => kind),
      again.map(() => NO_TENANT),
      again.map(({ userId }) => userId),
      again.map(({ digestAt }) => digestAt),
    ];
    await ctx.sql(AGAIN, columns, 'notifications-digest-again');
  }
  return leaving;
}
