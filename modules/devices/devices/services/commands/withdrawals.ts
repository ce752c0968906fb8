/** Takes back what a feature has ordered and no agent has fetched, where the feature was switched off. */
import type { Context, ModulePlace } from '#core';
import type { Command } from '../../models/command.ts';
import { COMMAND_FIELDS } from '../../models/command.ts';
import { tellFinished } from './queue.ts';

/** Commands in one statement. */
const MOST = 1000;

export async function countWaiting(
  ctx: Context,
  types: readonly string[],
  orgIds: readonly string[] | null,
): Promise<number> {
  const { rows } = await ctx.sql<{ n: number }>(
    `select count(*)::int as n from device_commands
     where status = 'pending' and type = any($1) and ($2::uuid[] is null or org_id = any($2))`,
    [types, orgIds],
  );
  return rows[0]?.n ?? 0;
}

/** In one transaction, so that whoever asks again finds none or all of them. */
export async function cancelWaitingOf(
  ctx: Context,
  types: readonly string[],
  { partnerId, orgId }: ModulePlace,
): Promise<void> {
  for (let taken = MOST; taken === MOST; ) {
    const { rows } = await ctx.sql<Command>(
      `update device_commands set status = 'cancelled', finished_at = now(), payload = '{}'
       where status = 'pending' and id in (
         select c.id from device_commands c join organizations o on o.id = c.org_id
         where c.status = 'pending' and c.type = any($1) and ($2::uuid is null or c.org_id = $2)
           and ($3::uuid is null or o.partner_id = $3)
         order by c.id limit ${MOST} for update of c skip locked)
       returning ${COMMAND_FIELDS}`,
      [types, orgId, partnerId],
    );
    for (const command of rows) tellFinished(ctx, command);
    taken = rows.length;
  }
}
