/** Serializes changes of the members of a group, so that no decision is based on members that are being removed. */
import type { Context } from '#core';

/** Waits for the lock, which is held until the unit of work ends. Take several in the order of their ids (migrations/001-device-groups.sql). */
export async function takeTurn(ctx: Context, groupId: string): Promise<void> {
  await ctx.sql('select take_device_group_turn($1)', [groupId]);
}

/** False while somebody else has the turn. */
export async function tryTurn(ctx: Context, groupId: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ mine: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('device-group:' || $1::uuid, 0)) as mine`,
    [groupId],
  );
  return rows[0]?.mine === true;
}

/** One at a time looks at what is waiting for an organization. */
export async function tryDrain(ctx: Context, orgId: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ mine: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('device-groups-drain:' || $1::uuid, 0)) as mine`,
    [orgId],
  );
  return rows[0]?.mine === true;
}

/** Changes of the tree of one organization's groups, which no constraint can judge. */
export async function takeTreeTurn(ctx: Context, orgId: string): Promise<void> {
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('device-group-tree:' || $1::uuid, 0))`, [orgId]);
}
