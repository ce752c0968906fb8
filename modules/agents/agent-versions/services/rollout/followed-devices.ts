/** Changes attempts when devices move or merge. Platform role, in the transaction of the move or merge. */
import type { Context } from '#core';
import { DEVICE_NOTICE } from './device-states.ts';

/** Moves the attempts in progress. A purge deletes attempts by foreign key. */
export async function moveAttempts(ctx: Context, move: { deviceId: string; toOrgId: string }): Promise<void> {
  // reach: the caller checked the device before moving or merging it; platform role
  await ctx.sql('update agent_update_attempts set org_id = $2 where device_id = $1 and finished_at is null', [
    move.deviceId,
    move.toOrgId,
  ]);
  ctx.notify(DEVICE_NOTICE, move.deviceId);
}

/** Both rows are the same machine, so earlier failures still count against the same version. */
export async function mergeAttempts(
  ctx: Context,
  { orgId, fromDeviceId, intoDeviceId }: { orgId: string; fromDeviceId: string; intoDeviceId: string },
): Promise<void> {
  // reach: the caller checked the device before moving or merging it; platform role
  await ctx.sql(
    `update agent_update_attempts set device_id = $2, updated_at = now(),
       state = case when finished_at is null then 'failed' else state end,
       reason = case when finished_at is null then 'superseded' else reason end, finished_at = coalesce(finished_at, now())
     where device_id = $1 and org_id = $3`,
    [fromDeviceId, intoDeviceId, orgId],
  );
  for (const id of [fromDeviceId, intoDeviceId]) ctx.notify(DEVICE_NOTICE, id);
}
