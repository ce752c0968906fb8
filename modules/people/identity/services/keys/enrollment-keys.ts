/** Enrollment keys: creating, rotating and deleting them. */
import {
  type Context,
  errors,
  mustAccessOrg,
  mustAccessSite,
  type PageQuery,
  page,
  type SortKey,
  targetOrg,
} from '#core';
import { newEnrollmentKey, pepperedHash } from '#core/auth';
import {
  EnrollmentKey,
  type EnrollmentKeyCreate,
  type EnrollmentKeyRotate,
  showEnrollmentKey,
} from '../../models/enrollment-key.ts';
import { variables } from '../../variables.ts';
import { mustExistOrg } from './organizations.ts';

const ORDER = {
  name: 'enrollment-keys-newest',
  keys: [
    { expression: 'enrollment_keys.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'enrollment_keys.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

export function listEnrollmentKeys(ctx: Context, query: PageQuery & { orgId?: string; expired?: boolean }) {
  const keys = EnrollmentKey.in(ctx);
  if (query.orgId) {
    mustAccessOrg(ctx, query.orgId);
    keys.where({ orgId: query.orgId });
  }
  if (query.expired !== undefined) {
    keys.whereRaw(query.expired ? 'enrollment_keys.expires_at <= now()' : 'enrollment_keys.expires_at > now()');
  }
  return page(keys, query, ORDER, showEnrollmentKey);
}

async function findKey(ctx: Context, id: string): Promise<EnrollmentKey> {
  const key = await EnrollmentKey.in(ctx).findById(id);
  if (!key) throw errors.NotFound('Enrollment key not found');
  return key;
}

export const readEnrollmentKey = async (ctx: Context, id: string) => showEnrollmentKey(await findKey(ctx, id));

/** Throws ORG_REQUIRED, 403 for an organization or site out of reach, 400 for a site of another organization or a bad tag. */
export async function createEnrollmentKey(ctx: Context, input: EnrollmentKeyCreate) {
  const orgId = targetOrg(ctx, input.orgId, () => errors.OrgRequired(`orgId is required for ${ctx.scope.kind} scope`));
  const siteId = input.siteId ?? null;
  mustAccessSite(ctx, siteId);
  // A caller limited to device groups would not reach the devices that enroll with the key.
  if (ctx.scope.groupIds) throw errors.SiteAccessDenied();
  await mustExistOrg(ctx, orgId);
  if (siteId) await ctx.use('tenancy').mustExistSite(siteId, orgId);
  const tags = ctx.use('devices').checkedTags(input.tags ?? [], 'tags');
  const { config, enrollmentPepper } = ctx.services;
  const key = newEnrollmentKey();
  // reach: mustAccessSite above checks the site of the new key
  const made = await EnrollmentKey.query(ctx.trx)
    .insert({
      orgId,
      siteId,
      name: input.name,
      tags,
      maxUsage: input.maxUsage,
      expiresAt:
        input.expiresAt ?? new Date(Date.now() + variables.of(config).ENROLLMENT_KEY_DEFAULT_TTL_MINUTES * 60_000),
      createdBy: ctx.actor.id ?? '',
      keyHash: pepperedHash(key, enrollmentPepper),
    } as Partial<EnrollmentKey>)
    .returning('*');
  record(ctx, 'enrollment_key.create', made, { siteId, tags, maxUsage: made.maxUsage, expiresAt: made.expiresAt });
  return { ...showEnrollmentKey(made), key };
}

/** New key material in one statement: the old key stops working with this commit. */
export async function rotateEnrollmentKey(ctx: Context, id: string, input: EnrollmentKeyRotate | null) {
  const key = newEnrollmentKey();
  const changes = input ?? {};
  const rotated = await EnrollmentKey.in(ctx)
    .where({ id })
    .patch({
      keyHash: pepperedHash(key, ctx.services.enrollmentPepper),
      usageCount: 0,
      ...changes,
    } as Partial<EnrollmentKey>)
    .returning('*')
    .first();
  if (!rotated) throw errors.NotFound('Enrollment key not found');
  record(ctx, 'enrollment_key.rotate', rotated, { changedFields: ['key', 'usageCount', ...Object.keys(changes)] });
  return { ...showEnrollmentKey(rotated), key };
}

export async function deleteEnrollmentKey(ctx: Context, id: string): Promise<{ success: true }> {
  const removed = await EnrollmentKey.in(ctx).where({ id }).delete().returning('*').first();
  if (!removed) throw errors.NotFound('Enrollment key not found');
  record(ctx, 'enrollment_key.delete', removed, {});
  return { success: true };
}

function record(ctx: Context, action: string, key: EnrollmentKey, details: Record<string, unknown>): void {
  ctx.audit(action, {
    orgId: key.orgId,
    resourceType: 'enrollment_key',
    resourceId: key.id,
    resourceName: key.name,
    details,
  });
}
