/** Labels of devices: listing, reading, writing. Callers see those of the devices that they see. */
import { type Context, databaseErrorOf, errors, mustReachOrg, page, type SortKey } from '@quartermaster/module-kit';
import { HasLabel, LabelTaken } from '../errors.ts';
import { AssetLabel, type LabelCreate, type LabelQuery, type LabelUpdate } from '../models/asset-label.ts';
import { give } from './numbers.ts';

const ORDER = {
  name: 'acme-asset-labels',
  keys: [
    { expression: 'acme_asset_labels.label', direction: 'asc', type: 'text' },
    { expression: 'acme_asset_labels.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export function listLabels(ctx: Context, query: LabelQuery) {
  const found = AssetLabel.in(ctx);
  if (query.orgId) {
    mustReachOrg(ctx, query.orgId);
    found.where('acme_asset_labels.org_id', query.orgId);
  }
  if (query.label) found.where('acme_asset_labels.label', query.label);
  return page(found, query, ORDER);
}

async function mustSee(ctx: Context, id: string): Promise<AssetLabel> {
  const found = await AssetLabel.in(ctx).where('acme_asset_labels.id', id).first();
  if (!found) throw errors.NotFound('Label not found');
  return found;
}

export async function readLabel(ctx: Context, id: string) {
  return { data: await mustSee(ctx, id) };
}

/** For other modules. */
export async function labelOf(ctx: Context, deviceId: string): Promise<string | null> {
  const found = await AssetLabel.in(ctx).where('deviceId', deviceId).first();
  return found?.label ?? null;
}

const about = ({ id, orgId, label }: AssetLabel) => ({
  orgId,
  resourceType: 'asset_label',
  resourceId: id,
  resourceName: label,
});

/** Throws 404 for a device out of reach, LABEL_TAKEN, DEVICE_HAS_LABEL. */
export async function createLabel(ctx: Context, { deviceId, label }: LabelCreate) {
  const { orgId } = await ctx.use('devices').mustExist(deviceId);
  const made = await give(ctx, { orgId, deviceId, label });
  if (!made) throw (await labelOf(ctx, deviceId)) ? HasLabel() : LabelTaken();
  ctx.audit('acme-asset-labels.label.create', { ...about(made), details: { deviceId } });
  return { data: made };
}

/** Throws LABEL_TAKEN. */
export async function updateLabel(ctx: Context, id: string, { label }: LabelUpdate) {
  const before = await mustSee(ctx, id);
  if (before.label === label) {
    ctx.unchanged();
    return { data: before };
  }
  try {
    const [after] = await AssetLabel.in(ctx)
      .where({ id, label: before.label })
      .patch({ label, updatedAt: new Date() })
      .returning('*');
    if (!after) throw errors.NotFound('Label not found');
    ctx.audit('acme-asset-labels.label.update', { ...about(after), details: { before: before.label } });
    return { data: after };
  } catch (error) {
    throw databaseErrorOf(error)?.constraint === 'acme_asset_labels_label' ? LabelTaken() : error;
  }
}

export async function deleteLabel(ctx: Context, id: string) {
  const label = await mustSee(ctx, id);
  if ((await AssetLabel.in(ctx).where({ id }).delete()) === 0) throw errors.NotFound('Label not found');
  ctx.audit('acme-asset-labels.label.delete', about(label));
  return { success: true };
}
