/** The next number of an organization, and giving it to a device. */
import { type Context, errors, targetOrg } from '@quartermaster/module-kit';
import { NumbersTaken } from '../errors.ts';
import assigned from '../events/assigned.ts';
import { AssetLabel } from '../models/asset-label.ts';
import type { Settings } from '../models/settings.ts';

/** Devices that one run of the job labels; it adds itself again for the rest. */
const BATCH = 200;

/** The upsert waits for a concurrent transaction that takes a number, so no two devices get the same. */
async function nextLabel(ctx: Context, orgId: string): Promise<string> {
  const { prefix, digits } = await ctx.settings<Settings>('acme-asset-labels', orgId);
  const { rows } = await ctx.sql<{ last: number }>(
    `insert into acme_asset_label_numbers as n (org_id, last) values ($1, 1)
     on conflict (org_id) do update set last = n.last + 1 returning last`,
    [orgId],
  );
  return prefix + String(rows[0]?.last ?? 1).padStart(digits, '0');
}

interface Gift {
  orgId: string;
  deviceId: string;
  label?: string | undefined;
}

async function insert(
  ctx: Context,
  { orgId, deviceId, label }: Gift & { label: string },
): Promise<AssetLabel | undefined> {
  // reach: callers have checked the device, or it is a job of the whole organization
  const { rows } = await ctx.sql<{ id: string }>(
    `insert into acme_asset_labels (org_id, device_id, label, created_by) values ($1, $2, $3, $4)
     on conflict do nothing returning id`,
    [orgId, deviceId, label, ctx.actor.kind === 'user' ? ctx.actor.id : null],
  );
  const id = rows[0]?.id;
  if (!id) return undefined;
  ctx.emit(assigned, { label }, { orgId, deviceId });
  return AssetLabel.in(ctx).findById(id);
}

/** Undefined where the device has one, or the label that was named is taken. Numbers that people used are passed over. */
export async function give(ctx: Context, { label, ...device }: Gift): Promise<AssetLabel | undefined> {
  if (label !== undefined) return insert(ctx, { ...device, label });
  // reach: callers have checked the device, or it is a job of the whole organization
  const { rows } = await ctx.sql('select from acme_asset_labels where device_id = $1', [device.deviceId]);
  if (rows.length > 0) return undefined;
  for (let tries = 0; tries < 100; tries += 1) {
    const made = await insert(ctx, { ...device, label: await nextLabel(ctx, device.orgId) });
    if (made) return made;
  }
  throw NumbersTaken();
}

/** Accepts the order; the job does it. Throws ORG_REQUIRED, and TARGET_OUT_OF_SCOPE where the caller does not reach every device. */
export function orderLabels(ctx: Context, named: string | undefined) {
  const orgId = targetOrg(ctx, named, () => errors.OrgRequired());
  if (ctx.scope.siteIds || ctx.scope.groupIds) throw errors.TargetOutOfScope();
  ctx.addJob('acme-asset-labels/label-devices', {}, { orgId, key: `acme-asset-labels:${orgId}` });
  ctx.audit('acme-asset-labels.label.assign', { orgId, resourceType: 'organization', resourceId: orgId });
  return { accepted: true };
}

/** Harmless when it runs twice: a device that has a label is left alone. */
export async function labelDevices(ctx: Context, orgId: string): Promise<void> {
  // reach: job of the whole organization
  const { rows } = await ctx.sql<{ id: string }>(
    `select d.id from devices d where d.org_id = $1 and d.lifecycle <> 'decommissioned'
       and not exists (select from acme_asset_labels l where l.device_id = d.id)
     order by d.created_at, d.id limit $2`,
    [orgId, BATCH],
  );
  for (const { id } of rows) await give(ctx, { orgId, deviceId: id });
  if (rows.length === BATCH) ctx.addJob('acme-asset-labels/label-devices', {}, { orgId });
}
