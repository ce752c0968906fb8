/** The order in which a partner wants to see its organizations, kept in the partner's settings. */
import { type Context, changesOf, errors } from '#core';
import { Organization } from '../models/organization.ts';
import { Partner } from '../models/partner.ts';
import { lockPartner } from './partners.ts';

/**
 * Unknown, deleted and unreached ids are dropped; organizations left out follow in the order of their registration. A
 * user with access to some organizations moves only these: the others keep their places and stay unseen.
 */
export async function orderOrganizations(ctx: Context, asked: string[]): Promise<{ organizationOrder: string[] }> {
  const { partnerId } = ctx.scope;
  if (!partnerId) throw errors.ValidationFailed('Partner context required');
  const partner = await lockPartner(ctx, partnerId);
  const rows = await Organization.in(ctx)
    .select('id')
    .where({ partnerId })
    .whereNull('deletedAt')
    .orderByRaw('created_at, id');
  const reached = new Set(rows.map((row) => row.id));
  const order = [...new Set([...asked.filter((id) => reached.has(id)), ...reached])];
  const before = partner.settings.organizationOrder;
  const organizationOrder = ctx.scope.allOrgs ? order : refill(Array.isArray(before) ? before : [], order);
  await Partner.in(ctx)
    .findById(partnerId)
    .patch({ settings: { ...partner.settings, organizationOrder }, updatedAt: new Date() });
  ctx.audit('partner.settings.update', {
    orgId: null,
    resourceType: 'partner',
    resourceId: partnerId,
    resourceName: partner.name,
    details: {
      ...changesOf(partner, { settings: { ...partner.settings, organizationOrder } }, ['settings.organizationOrder']),
    },
  });
  return { organizationOrder: order };
}

/** The ids of `moved` in their new order, on the places they had; those without a place come last. */
function refill(before: string[], moved: string[]): string[] {
  const mine = new Set(moved);
  const left = [...moved];
  const kept = before.map((id) => (mine.has(id) ? (left.shift() ?? id) : id));
  return [...kept, ...left];
}
