/** Identity providers of organizations: reading, creating, changing and removing them. */
import { randomUUID } from 'node:crypto';
import {
  type Context,
  changesOf,
  databaseErrorOf,
  errors,
  mustAccessOrg,
  type PageQuery,
  page,
  type SortKey,
  targetOrg,
} from '#core';
import { AlreadyActive, SecretRequired } from '../errors.ts';
import {
  Provider,
  type ProviderCreate,
  type ProviderStatus,
  type ProviderUpdate,
  secretPlace,
  showProvider,
} from '../models/provider.ts';
import { mustBeProven, mustControl, mustHoldTogether } from './settings.ts';

const ORDER = {
  name: 'sso-providers',
  keys: [
    { expression: 'lower(sso_providers.name)', direction: 'asc', type: 'text' },
    { expression: 'sso_providers.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};

export interface ProviderQuery extends PageQuery {
  orgId?: string;
  status?: ProviderStatus;
}

export function listProviders(ctx: Context, query: ProviderQuery) {
  const providers = Provider.in(ctx);
  if (query.orgId) {
    mustAccessOrg(ctx, query.orgId);
    providers.where({ orgId: query.orgId });
  }
  if (query.status) providers.where({ status: query.status });
  return page(providers, query, ORDER, showProvider);
}

export async function findProvider(ctx: Context, id: string): Promise<Provider> {
  const provider = await Provider.in(ctx).findById(id);
  if (!provider) throw errors.NotFound('SSO provider not found');
  return provider;
}

/** Changes of one provider run one after the other, so that its settings stay consistent. */
async function lockProvider(ctx: Context, id: string): Promise<Provider> {
  const provider = await Provider.in(ctx).findById(id).forUpdate();
  if (!provider) throw errors.NotFound('SSO provider not found');
  return provider;
}

export const readProvider = async (ctx: Context, id: string) => ({ data: showProvider(await findProvider(ctx, id)) });

/** The columns that a request sets, with the secret sealed. */
function columns(ctx: Context, id: string, input: ProviderUpdate): Partial<Provider> {
  const { clientSecret, attributeMapping, enforceSSO, ...plain } = input;
  return {
    ...plain,
    ...(clientSecret === undefined
      ? {}
      : { clientSecret: clientSecret && ctx.services.seal.seal(clientSecret, secretPlace(id)) }),
    ...(attributeMapping ? { emailClaim: attributeMapping.email, nameClaim: attributeMapping.name } : {}),
    ...(enforceSSO === undefined ? {} : { enforceSso: enforceSSO }),
  };
}

const mustAssign = (ctx: Context, roleId: string, orgId: string) =>
  ctx.use('roles').mustAssign(roleId, { orgId, partnerId: null }, 'defaultRoleId');

/** Begins as `inactive`. Throws ORG_REQUIRED, NAME_TAKEN, 403 and 404 for the role. */
export async function createProvider(ctx: Context, { orgId: named, ...input }: ProviderCreate) {
  mustControl(ctx);
  const orgId = targetOrg(ctx, named, () => errors.OrgRequired(`orgId is required for ${ctx.scope.kind} scope`));
  await ctx.use('tenancy').mustExistOrg(orgId);
  mustHoldTogether(ctx, { autoProvision: false, defaultRoleId: null, allowedDomains: [], ...input });
  if (input.defaultRoleId) await mustAssign(ctx, input.defaultRoleId, orgId);
  const id = randomUUID();
  const made = await Provider.query(ctx.trx)
    .insert({
      id,
      orgId,
      createdBy: ctx.actor.id,
      scopes: ['openid', 'profile', 'email'],
      ...columns(ctx, id, input),
    } as Partial<Provider>)
    .returning('*')
    .catch(refused);
  record(ctx, 'sso.provider.create', made, { issuer: made.issuer });
  return { data: showProvider(made) };
}

/**
 * Another issuer or client means other users: linked identities are removed. Throws NO_UPDATES,
 * CLIENT_SECRET_REQUIRED, NAME_TAKEN, SSO_NOT_PROVEN.
 */
export async function updateProvider(ctx: Context, id: string, changes: ProviderUpdate) {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  mustControl(ctx);
  const current = await lockProvider(ctx, id);
  const differs = (field: 'issuer' | 'clientId') => (changes[field] ?? current[field]) !== current[field];
  if (differs('issuer') && current.clientSecret !== null && changes.clientSecret === undefined) {
    throw SecretRequired({ details: [{ in: 'payload', path: 'clientSecret' }] });
  }
  const next = { ...current, ...changes };
  mustHoldTogether(ctx, next);
  if (next.defaultRoleId && (changes.defaultRoleId || changes.autoProvision)) {
    await mustAssign(ctx, next.defaultRoleId, current.orgId);
  }
  const turned = differs('issuer') || differs('clientId');
  if (turned) await ctx.sql('delete from sso_identities where provider_id = $1', [id]);
  const updated = await Provider.in(ctx)
    .where({ id })
    .patch({ ...columns(ctx, id, changes), updatedAt: new Date(), ...(turned ? { testedAt: null } : {}) })
    .returning('*')
    .first()
    .catch(refused);
  if (!updated) throw errors.NotFound('SSO provider not found');
  const enforces = updated.status === 'active' && updated.enforceSso;
  if (enforces && (changes.enforceSSO || turned)) await mustBeProven(ctx, id);
  const shown = showProvider(updated);
  record(ctx, 'sso.provider.update', updated, { ...changesOf(showProvider(current), shown, Object.keys(changes)) });
  return { data: shown };
}

/** Throws SSO_PROVIDER_ACTIVE for a second active one, SSO_NOT_PROVEN where passwords would be forbidden before a test. */
export async function setStatus(ctx: Context, id: string, status: ProviderStatus) {
  mustControl(ctx);
  const current = await lockProvider(ctx, id);
  if (current.status === status) {
    ctx.unchanged();
    return { data: showProvider(current) };
  }
  if (status === 'active' && current.enforceSso) await mustBeProven(ctx, id);
  const updated = await Provider.in(ctx)
    .where({ id, status: current.status })
    .patch({ status, updatedAt: new Date() })
    .returning('*')
    .first()
    .catch(refused);
  if (!updated) throw errors.NotFound('SSO provider not found');
  record(ctx, 'sso.provider.update', updated, { ...changesOf(current, updated, ['status']) });
  return { data: showProvider(updated) };
}

/** Removes the provider with its linked identities. Accounts and memberships stay. */
export async function deleteProvider(ctx: Context, id: string): Promise<{ success: true }> {
  mustControl(ctx);
  const provider = await lockProvider(ctx, id);
  const { rowCount } = await ctx.sql('delete from sso_identities where provider_id = $1', [id]);
  await Provider.in(ctx).deleteById(id);
  record(ctx, 'sso.provider.delete', provider, { issuer: provider.issuer, identities: rowCount ?? 0 });
  return { success: true };
}

function refused(error: unknown): never {
  const constraint = databaseErrorOf(error)?.constraint;
  if (constraint === 'sso_providers_name') throw errors.NameTaken({ details: [{ in: 'payload', path: 'name' }] });
  if (constraint === 'sso_providers_active') throw AlreadyActive();
  throw error;
}

function record(ctx: Context, action: string, provider: Provider, details: Record<string, unknown>): void {
  const { orgId, id, name } = provider;
  ctx.audit(action, { orgId, resourceType: 'sso_provider', resourceId: id, resourceName: name, details });
}
