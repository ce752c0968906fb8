/** Use of an enrollment key by the agents module while it enrolls a device, in its transaction. */
import type { Context } from '#core';
import { pepperedHash } from '#core/auth';

export interface LockedEnrollmentKey {
  id: string;
  orgId: string;
  siteId: string | null;
  createdBy: string | null;
  /** Of devices that are new with this enrollment. */
  tags: string[];
  usageCount: number;
  maxUsage: number | null;
  expiresAt: Date;
  exhausted: boolean;
  expired: boolean;
}

/**
 * Finds a key and holds it until the caller's transaction ends, so that a rotation or another enrollment waits. The
 * organization is not known before, so the work must be the platform's. Null when no key has this value.
 */
export async function lockEnrollmentKey(ctx: Context, rawKey: string): Promise<LockedEnrollmentKey | null> {
  // reach: platform role: the agent presents the secret key itself
  const { rows } = await ctx.sql<LockedEnrollmentKey>(
    `select id, org_id as "orgId", site_id as "siteId", created_by as "createdBy", tags, usage_count as "usageCount", max_usage as "maxUsage",
       expires_at as "expiresAt", coalesce(usage_count >= max_usage, false) as exhausted, expires_at <= now() as expired
     from enrollment_keys where key_hash = $1 for update`,
    [pepperedHash(rawKey, ctx.services.enrollmentPepper)],
    'identity-lock-enrollment-key',
  );
  return rows[0] ?? null;
}

/** Counts one successful enrollment. False when the key has meanwhile expired or been used up; then nothing is counted. */
export async function countEnrollment(ctx: Context, keyId: string): Promise<boolean> {
  // reach: platform role: the agent presents the secret key itself
  const { rowCount } = await ctx.sql(
    `update enrollment_keys set usage_count = usage_count + 1
     where id = $1 and (max_usage is null or usage_count < max_usage) and expires_at > now()`,
    [keyId],
    'identity-count-enrollment',
  );
  return rowCount === 1;
}
