/** Partners: provisioned by system administrators; each changes its own name, billing address and settings. */
import {
  type Context,
  changesOf,
  databaseErrorOf,
  errors,
  mustReachAllOrgs,
  type PageQuery,
  page,
  type SortKey,
} from '#core';
import { type OwnPartnerUpdate, Partner, type PartnerCreate, type PartnerUpdate } from '../models/partner.ts';
import { tellDecision } from './partner-approvals.ts';
import { makePartnerAdminRole } from './partner-roles.ts';
import { mergePartnerSettings } from './settings.ts';

const ORDER = {
  name: 'partners-by-name',
  keys: [
    { expression: 'lower(partners.name)', direction: 'asc', type: 'text' },
    { expression: 'partners.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export function listPartners(ctx: Context, query: PageQuery & { status?: string }) {
  const partners = Partner.in(ctx).whereNull('deletedAt');
  if (query.status) partners.where({ status: query.status });
  return page(partners, query, ORDER);
}

/** Throws 404 when missing or soft-deleted. */
export async function readPartner(ctx: Context, id: string): Promise<Partner> {
  const partner = await Partner.in(ctx).findById(id).whereNull('deletedAt');
  if (!partner) throw errors.NotFound('Partner not found');
  return partner;
}

/** The row, locked: changes of its settings, and organizations under its limit, run one after the other. */
export async function lockPartner(ctx: Context, id: string): Promise<Partner> {
  const partner = await Partner.in(ctx).findById(id).whereNull('deletedAt').forNoKeyUpdate();
  if (!partner) throw errors.NotFound('Partner not found');
  return partner;
}

export async function createPartner(ctx: Context, input: PartnerCreate): Promise<Partner> {
  const settings = mergePartnerSettings(ctx, {}, input.settings ?? {});
  const partner = await Partner.query(ctx.trx)
    .insert({ ...input, settings } as Partial<Partner>)
    .returning('*')
    .catch(slugTaken);
  await makePartnerAdminRole(ctx, partner.id);
  audit(ctx, 'partner.create', partner);
  return partner;
}

/** The first status after `pending` decides about a registration, and is mailed. Throws NO_UPDATES when nothing is given. */
export async function updatePartner(ctx: Context, id: string, changes: PartnerUpdate): Promise<Partner> {
  const { before, updated } = await change(ctx, id, changes);
  await tellDecision(ctx, id, before.status, updated.status);
  audit(ctx, 'partner.update', updated, { ...changesOf(before, updated, Object.keys(changes)) });
  return updated;
}

/** Soft delete: its users and keys are rejected from then on. */
export async function deletePartner(ctx: Context, id: string): Promise<{ success: true }> {
  const now = new Date();
  const partner = await Partner.in(ctx)
    .findById(id)
    .whereNull('deletedAt')
    .patch({ deletedAt: now, updatedAt: now })
    .returning('*')
    .first();
  if (!partner) throw errors.NotFound('Partner not found');
  audit(ctx, 'partner.delete', partner);
  return { success: true };
}

function ownPartnerId(ctx: Context): string {
  const { partnerId } = ctx.scope;
  if (!partnerId) throw errors.ValidationFailed('Partner context required');
  return partnerId;
}

/** A user with access to some organizations does not learn about the others from their order. */
function shown(ctx: Context, partner: Partner): Partner {
  const order = partner.settings.organizationOrder;
  const { orgIds, allOrgs } = ctx.scope;
  if (allOrgs || !Array.isArray(order)) return partner;
  partner.settings.organizationOrder = order.filter((id) => orgIds?.includes(id));
  return partner;
}

export const readOwnPartner = async (ctx: Context): Promise<Partner> =>
  shown(ctx, await readPartner(ctx, ownPartnerId(ctx)));

/** Reaches every organization of the partner, so only users with access to all of them may. */
export async function updateOwnPartner(ctx: Context, changes: OwnPartnerUpdate): Promise<Partner> {
  mustReachAllOrgs(ctx);
  const { before, updated } = await change(ctx, ownPartnerId(ctx), changes);
  audit(ctx, 'partner.settings.update', updated, { ...changesOf(before, updated, changedFields(changes)) });
  return updated;
}

/** Settings are named key by key: `name`, `settings.timezone`. */
const changedFields = (changes: OwnPartnerUpdate): string[] =>
  Object.keys(changes).flatMap((field) =>
    field === 'settings' ? Object.keys(changes.settings ?? {}).map((key) => `settings.${key}`) : [field],
  );

async function change(ctx: Context, id: string, changes: PartnerUpdate) {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  const before = await lockPartner(ctx, id);
  const settings = changes.settings ? { settings: mergePartnerSettings(ctx, before.settings, changes.settings) } : {};
  const updated = await Partner.in(ctx)
    .findById(id)
    .patch({ ...changes, ...settings, updatedAt: new Date() } as Partial<Partner>)
    .returning('*')
    .first()
    .catch(slugTaken);
  if (!updated) throw errors.NotFound('Partner not found');
  return { before, updated };
}

/** A unique index decides, so two requests at once cannot both win. */
export function slugTaken(error: unknown): never {
  if (databaseErrorOf(error)?.code === '23505')
    throw errors.NameTaken({ message: 'The slug is already in use', details: [{ path: 'slug' }] });
  throw error;
}

function audit(ctx: Context, action: string, partner: Partner, details: Record<string, unknown> = {}): void {
  ctx.audit(action, {
    orgId: null,
    partnerId: partner.id,
    resourceType: 'partner',
    resourceId: partner.id,
    resourceName: partner.name,
    details,
  });
}
