/** Counts and cancels the waiting commands of a feature that is disabled. */
import type { Context, ModulePlace } from '#core';
import { COMMAND_FIELDS, type Command } from '../models/command.ts';
import { announceEnd } from './queue.ts';

/** Commands cancelled by one statement. */
const BATCH_SIZE = 1000;

/** The number of waiting commands of these types, in these organizations or, for null, in all. Platform role. */
export async function countWaitingCommands(
  ctx: Context,
  types: readonly string[],
  orgIds: readonly string[] | null,
): Promise<number> {
  // reach: platform role: a feature is switched off for whole organizations
  const { rows } = await ctx.sql<{ n: number }>(
    `select count(*)::int as n from device_commands
     where status = 'pending' and type = any($1) and ($2::uuid[] is null or org_id = any($2))`,
    [types, orgIds],
  );
  return rows[0]?.n ?? 0;
}

/**
 * Cancels waiting commands of these types, for an organization, a partner, or everywhere; in one transaction, so that a
 * concurrent count finds all or none of them. Platform role.
 */
export async function cancelWaitingCommands(
  ctx: Context,
  types: readonly string[],
  { partnerId, orgId }: ModulePlace,
): Promise<void> {
  for (let taken = BATCH_SIZE; taken === BATCH_SIZE; ) {
    // reach: platform role: a feature is switched off for whole organizations
    const { rows } = await ctx.sql<Command>(
      `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
       where status = 'pending' and id in (
         select c.id from device_commands c join organizations o on o.id = c.org_id
         where c.status = 'pending' and c.type = any($1) and ($2::uuid is null or c.org_id = $2)
           and ($3::uuid is null or o.partner_id = $3)
         order by c.id limit ${BATCH_SIZE} for update of c skip locked)
       returning ${COMMAND_FIELDS}`,
      [types, orgId, partnerId],
    );
    for (const command of rows) announceEnd(ctx, command);
    taken = rows.length;
  }
}
