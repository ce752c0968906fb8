/** What becomes of attempts when devices move or merge. Platform role, in the transaction that does it. */
import type { Context } from '#core';
import { DEVICE_NOTICE } from './standings.ts';

/** A purge takes attempts along by foreign key: there are never many. */
export async function moveAttempts(ctx: Context, move: { deviceId: string; toOrgId: string }): Promise<void> {
  // reach: the device is moved or merged, which checked it; platform role
  await ctx.sql('update agent_update_attempts set org_id = $2 where device_id = $1 and finished_at is null', [
    move.deviceId,
    move.toOrgId,
  ]);
  ctx.notify(DEVICE_NOTICE, move.deviceId);
}

/** It is one machine: what failed on it before speaks against the same version still. */
export async function mergeAttempts(
  ctx: Context,
  { orgId, fromDeviceId, intoDeviceId }: { orgId: string; fromDeviceId: string; intoDeviceId: string },
): Promise<void> {
  // reach: the device is moved or merged, which checked it; platform role
  await ctx.sql(
    `update agent_update_attempts set device_id = $2, updated_at = now(),
       state = case when finished_at is null then 'failed' else state end,
       reason = case when finished_at is null then 'superseded' else reason end, finished_at = coalesce(finished_at, now())
     where device_id = $1 and org_id = $3`,
    [fromDeviceId, intoDeviceId, orgId],
  );
  for (const id of [fromDeviceId, intoDeviceId]) ctx.notify(DEVICE_NOTICE, id);
}
