/** The caller's own account: reading and changing it. */
import { type Context, changesOf, errors } from '#core';
import type { ProfileUpdate } from '../../models/user.ts';
import { allowsSms } from '../factors/demands.ts';

interface Profile {
  id: string;
  email: string;
  name: string;
  mfaEnabled: boolean;
  mfaMethod: 'totp' | 'sms' | null;
}

const PROFILE = `id, email, name, mfa_enabled as "mfaEnabled", avatar_url as "avatarUrl", status,
  mfa_method as "mfaMethod", '•••' || right(phone_number, 4) as "phoneNumber", phone_verified as "phoneVerified",
  last_login_at as "lastLoginAt", password_changed_at as "passwordChangedAt", created_at as "createdAt",
  updated_at as "updatedAt", email_proven_at is not null as "emailConfirmed"`;

/** The caller's own row. The route uses the platform's role, so the id must be the actor's. */
export async function readProfile(ctx: Context): Promise<Profile> {
  const { rows } = await ctx.sql<Profile>(`select ${PROFILE} from users where id = $1`, [ctx.actor.id]);
  if (!rows[0]) throw errors.NotFound('User not found');
  return rows[0];
}

const DEMANDS = `
select r.name as "roleName", (select status from partners where id = $3) as "partnerStatus",
  (select '•••' || right(phone_number, 4) from sms_codes
   where purpose = 'phone' and bound_to = $1::text and expires_at > now()) as "pendingPhoneNumber"
from roles r where r.id = $2`;

interface Demands {
  roleName: string;
  partnerStatus: string | null;
  pendingPhoneNumber: string | null;
}

/** The profile with the tenant, role and permissions of this session. */
export async function readMe(ctx: Context) {
  const profile = await readProfile(ctx);
  const { actor, scope } = ctx;
  const { rows } = await ctx.sql<Demands>(DEMANDS, [actor.id, actor.roleId, scope.partnerId]);
  const { roleName = '', pendingPhoneNumber = null, partnerStatus = null } = rows[0] ?? {};
  const { mfaMethod } = profile;
  return {
    ...profile,
    pendingPhoneNumber,
    scope: scope.kind,
    partnerId: scope.partnerId,
    partnerStatus,
    orgId: scope.orgId,
    roleId: actor.roleId,
    roleName,
    permissions: [...actor.permissions].sort(),
    mfaMethodAllowed: mfaMethod !== 'sms' || (await allowsSms(ctx, profile.id)),
    mfaVerified: actor.mfa,
    mfaRequired: ctx.services.config.identity.twoFactor && actor.mustEnrollMfa,
  };
}

/** Throws NO_UPDATES when nothing is given. */
export async function updateProfile(ctx: Context, changes: ProfileUpdate): Promise<Profile> {
  if (Object.keys(changes).length === 0) throw errors.NoUpdates();
  const { rows: before } = await ctx.sql(
    'select name, avatar_url as "avatarUrl" from users where id = $1 for no key update',
    [ctx.actor.id],
  );
  const { rows } = await ctx.sql<Profile>(
    `update users set name = coalesce($2, name), avatar_url = case when $3 then $4 else avatar_url end,
       updated_at = now()
     where id = $1 returning ${PROFILE}`,
    [ctx.actor.id, changes.name ?? null, changes.avatarUrl !== undefined, changes.avatarUrl ?? null],
  );
  const [profile] = rows;
  if (!profile) throw errors.NotFound('User not found');
  ctx.audit('user.profile.update', {
    resourceType: 'user',
    resourceId: profile.id,
    resourceName: profile.email,
    details: { ...changesOf(before[0] ?? {}, profile, Object.keys(changes)) },
  });
  return profile;
}
