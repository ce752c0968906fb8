/** Locks that serialize changes of the members of a group, so that no decision is based on members that are being removed. */
import type { Context } from '#core';

/**
 * Waits for the lock, which is held until the unit of work ends. Take several in the order of their ids
 * (migrations/001-device-groups.sql).
 */
export async function takeTurn(ctx: Context, groupId: string): Promise<void> {
  await ctx.sql('select take_device_group_turn($1)', [groupId]);
}

/** Takes the lock of a group if it is free; false while another transaction holds it. */
export async function tryTurn(ctx: Context, groupId: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ mine: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('device-group:' || $1::uuid, 0)) as mine`,
    [groupId],
  );
  return rows[0]?.mine === true;
}

/** Takes the lock of an organization's queue; false while another job processes it. */
export async function tryDrain(ctx: Context, orgId: string): Promise<boolean> {
  const { rows } = await ctx.sql<{ mine: boolean }>(
    `select pg_try_advisory_xact_lock(hashtextextended('device-groups-drain:' || $1::uuid, 0)) as mine`,
    [orgId],
  );
  return rows[0]?.mine === true;
}

/** Serializes changes of the group tree of an organization, because no constraint can rule out cycles. */
export async function takeTreeTurn(ctx: Context, orgId: string): Promise<void> {
  await ctx.sql(`select pg_advisory_xact_lock(hashtextextended('device-group-tree:' || $1::uuid, 0))`, [orgId]);
}
