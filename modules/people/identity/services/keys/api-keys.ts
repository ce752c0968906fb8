/** API keys: creating, changing, rotating and revoking them. */
import {
  type Context,
  changesOf,
  errors,
  mustAccessOrg,
  mustReachWholeOrg,
  type PageQuery,
  page,
  type SortKey,
} from '#core';
import { newApiKey } from '#core/auth';
import {
  ApiKey,
  type ApiKeyCreate,
  type ApiKeyUpdate,
  type KeyStatus,
  showApiKey,
  statusOf,
} from '../../models/api-key.ts';
import { mayGive } from './key-grants.ts';
import { mustExistOrg } from './organizations.ts';

const WARNING = 'Store this key now. It cannot be shown again.';
const ORDER = {
  name: 'api-keys-newest',
  keys: [
    { expression: 'api_keys.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'api_keys.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};
const OVERDUE = 'coalesce(api_keys.expires_at <= now(), false)';
const USABLE = `api_keys.status = 'active' and not ${OVERDUE}`;
const FILTER: Record<KeyStatus, string> = {
  active: USABLE,
  revoked: `api_keys.status = 'revoked'`,
  expired: `(api_keys.status = 'expired' or (api_keys.status = 'active' and ${OVERDUE}))`,
};

export function listApiKeys(ctx: Context, query: PageQuery & { orgId?: string; status?: KeyStatus }) {
  const keys = ApiKey.in(ctx);
  if (query.orgId) {
    mustAccessOrg(ctx, query.orgId);
    keys.where({ orgId: query.orgId });
  }
  if (query.status) keys.whereRaw(FILTER[query.status]);
  return page(keys, query, ORDER, showApiKey);
}

async function findKey(ctx: Context, id: string): Promise<ApiKey> {
  const key = await ApiKey.in(ctx).findById(id);
  if (!key) throw errors.NotFound('API key not found');
  return key;
}

export const readApiKey = async (ctx: Context, id: string) => showApiKey(await findKey(ctx, id));

/**
 * A key reaches the whole organization, so a user limited to sites or groups may not make, hold or revoke one. Throws 403 for
 * an organization out of reach and for scopes that the caller does not hold.
 */
export async function createApiKey(ctx: Context, input: ApiKeyCreate) {
  mustAccessOrg(ctx, input.orgId);
  mustReachWholeOrg(ctx);
  mayGive(ctx, input.scopes);
  await mustExistOrg(ctx, input.orgId);
  const { key, keyPrefix, keyHash } = newApiKey();
  const made = await ApiKey.query(ctx.trx)
    .insert({ ...input, keyPrefix, keyHash, createdBy: ctx.actor.id ?? '' } as Partial<ApiKey>)
    .returning('*');
  record(ctx, 'api_key.create', made, { scopes: made.scopes, rateLimit: made.rateLimit, expiresAt: made.expiresAt });
  const { lastUsedAt: _, usageCount: __, ...shown } = showApiKey(made);
  return { ...shown, key, warning: WARNING };
}

/** Throws NO_UPDATES, INVALID_STATE for a key that is not active. */
export async function updateApiKey(ctx: Context, id: string, changes: ApiKeyUpdate) {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  mustReachWholeOrg(ctx);
  if (changes.scopes) mayGive(ctx, changes.scopes);
  const before = await ApiKey.in(ctx).findById(id).forNoKeyUpdate();
  const updated = await changeActive(ctx, id, changes);
  record(ctx, 'api_key.update', updated, { ...changesOf(before ?? {}, updated, Object.keys(changes)) });
  return showApiKey(updated);
}

/** New key material. The caller will hold the key, so its scopes must not exceed the caller's permissions. */
export async function rotateApiKey(ctx: Context, id: string) {
  mustReachWholeOrg(ctx);
  const { key, keyPrefix, keyHash } = newApiKey();
  const rotated = await changeActive(ctx, id, { keyPrefix, keyHash, lastUsedAt: null, usageCount: '0' });
  // Scopes are checked on the locked row, so they cannot be widened in between.
  mayGive(ctx, rotated.scopes);
  record(ctx, 'api_key.rotate', rotated, { changedFields: ['key', 'usageCount', 'lastUsedAt'] });
  return { ...showApiKey(rotated), key, warning: WARNING };
}

/** Permanent; the record stays. */
export async function revokeApiKey(ctx: Context, id: string): Promise<{ success: true }> {
  mustReachWholeOrg(ctx);
  const revoked = await changeActive(ctx, id, { status: 'revoked' });
  record(ctx, 'api_key.revoke', revoked, {});
  return { success: true };
}

/** Every change is a compare-and-set on an active key. */
async function changeActive(ctx: Context, id: string, changes: object): Promise<ApiKey> {
  const changed = await ApiKey.in(ctx)
    .where({ id })
    .whereRaw(USABLE)
    .patch(changes as Partial<ApiKey>)
    .returning('*')
    .first();
  if (changed) {
    // This process drops its cached copy with the answer; the others within a second.
    ctx.notify('principals', '*');
    return changed;
  }
  const current = statusOf(await findKey(ctx, id));
  throw errors.InvalidState({
    message: `API key is ${current}`,
    details: [{ current, allowed: ['active'] }],
  });
}

function record(ctx: Context, action: string, key: ApiKey, details: Record<string, unknown>): void {
  ctx.audit(action, {
    orgId: key.orgId,
    resourceType: 'api_key',
    resourceId: key.id,
    resourceName: key.name,
    details,
  });
}
