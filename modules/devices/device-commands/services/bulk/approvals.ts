/** Bulk commands that wait for the approval of a second person, because they are for more devices than the organization's setting allows. */
import { createHash } from 'node:crypto';
import { type Context, canonicalJson } from '#core';
import { OneOrganization } from '../../errors.ts';
import type { BulkCommand } from '../../models/bulk-command.ts';
import { COMMAND_TYPES } from '../command-types.ts';

export interface ApprovalSettings {
  /** Null: never. */
  approvalAboveDevices: number | null;
}

/** What the audit entries of approved commands name. */
export interface ApprovedBulk {
  approvalId: string;
  approvedBy: string | null;
}

/** A device that takes the command. */
interface Recipient {
  id: string;
  orgId: string;
}

export const BULK_KIND = 'device-commands.bulk';

/** What is kept of a command until it is approved: its devices are those of now. */
export interface KeptBulk extends Record<string, unknown> {
  type: string;
  payload: Record<string, unknown>;
  whenOffline: 'queue' | 'fail';
  deviceIds: string[];
}

/** Whether one of the organizations wants approval for as many of its devices. @throws ONE_ORGANIZATION_AT_A_TIME */
export async function needsApproval(
  ctx: Context,
  { type }: Pick<BulkCommand, 'type'>,
  devices: readonly Recipient[],
): Promise<boolean> {
  if (COMMAND_TYPES[type]?.takesBack) return false;
  const byOrg = Map.groupBy(devices, ({ orgId }) => orgId);
  const above: { orgId: string; devices: number; limit: number }[] = [];
  for (const [orgId, own] of byOrg) {
    // No setting is below one device.
    if (own.length === 1) continue;
    const { approvalAboveDevices: limit } = await ctx.settings<ApprovalSettings>('device-commands', orgId);
    if (limit !== null && own.length > limit) above.push({ orgId, devices: own.length, limit });
  }
  if (above.length > 0 && byOrg.size > 1) throw OneOrganization({ details: above });
  return above.length > 0;
}

/** The same command of the same caller for the same devices is one request while it waits. */
export async function askForBulk(
  ctx: Context,
  { type, payload, whenOffline, reason }: BulkCommand & { payload: Record<string, unknown> },
  devices: readonly Recipient[],
) {
  const orgId = devices[0]?.orgId ?? '';
  const deviceIds = devices.map(({ id }) => id).sort();
  const input: KeptBulk = { type, payload, whenOffline, deviceIds };
  const { id, expiresAt, isNew } = await ctx.use('approvals').ask({
    kind: BULK_KIND,
    subject: { type: 'bulk-command', id: idOf({ ...input, by: ctx.actor.id }) },
    orgId,
    deviceIds,
    input,
    reason,
  });
  if (!isNew) ctx.unchanged();
  return { approvalId: id, status: 'pending_approval' as const, expiresAt, deviceCount: deviceIds.length };
}

/** A UUID of version 8: of equal content equal. */
function idOf(content: object): string {
  const hex = createHash('sha256').update(canonicalJson(content)).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
