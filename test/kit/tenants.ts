/** Partners, organizations, sites and people with tokens, inserted directly so that a test begins with its own subject. */
import { randomUUID } from 'node:crypto';
import type { QueryResultRow } from 'pg';
import { newApiKey, sha256Hex } from '../../core/auth/opaque-tokens.ts';
import type { AccessClaims } from '../../core/auth/tokens.ts';

/** What making tenants needs: the database as its superuser, and the key that signs tokens. */
export interface Arranged {
  sql<R extends QueryResultRow = QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
  signAccess(claims: AccessClaims, seconds: number): Promise<string>;
  /** Set by tests of logins and of enrolling: people who are made from then on have no second factor yet. */
  newcomers?: boolean;
}

export const ROLES = {
  systemAdmin: '00000000-0000-4000-8000-000000000001',
  orgAdmin: '00000000-0000-4000-8000-000000000002',
  technician: '00000000-0000-4000-8000-000000000003',
  viewer: '00000000-0000-4000-8000-000000000004',
};
export interface Person {
  id: string;
  email: string;
  token: string;
  sessionId: string;
}
export interface Tenant {
  partnerId: string;
  partnerRoleId: string;
  orgId: string;
  siteId: string;
  /** Partner Admin with access to all organizations. */
  partner: Person;
  orgAdmin: Person;
  viewer: Person;
}
interface Place {
  scope: 'system' | 'partner' | 'organization';
  partnerId?: string;
  orgId?: string;
  mfa?: boolean;
}

/** A user with a running session; `associate` puts the user where the session says. */
async function person(test: Arranged, place: Place, associate: (userId: string) => Promise<unknown>): Promise<Person> {
  const email = `${randomUUID().slice(0, 8)}@example.com`;
  const [user] = await test.sql<{ id: string }>(
    `insert into users (email, name, email_proven_at, mfa_enabled, mfa_method)
     values ($1, $2, now(), $3, case when $3 then 'totp' end) returning id`,
    [email, `User ${email}`, test.newcomers !== true],
  );
  const id = user?.id ?? '';
  await associate(id);
  const [session] = await test.sql<{ id: string }>(
    `insert into sessions (user_id, token_hash, mfa, scope, partner_id, org_id, expires_at)
     values ($1, $2, $3, $4, $5, $6, now() + interval '1 day') returning id`,
    [id, sha256Hex(randomUUID()), place.mfa ?? true, place.scope, place.partnerId ?? null, place.orgId ?? null],
  );
  const sessionId = session?.id ?? '';
  const { partnerId, orgId, scope, mfa = true } = place;
  const claims = {
    sub: id,
    sid: sessionId,
    scope,
    mfa,
    ...(partnerId ? { partnerId } : {}),
    ...(orgId ? { orgId } : {}),
  };
  return { id, email, sessionId, token: await test.signAccess(claims, 3600) };
}

export const systemUser = (test: Arranged, { mfa = true } = {}): Promise<Person> =>
  person(test, { scope: 'system', mfa }, (id) =>
    test.sql('insert into system_users values ($1, $2)', [id, ROLES.systemAdmin]),
  );

export const partnerUser = (
  test: Arranged,
  at: { partnerId: string; roleId: string; orgAccess?: 'all' | 'selected' | 'none'; orgIds?: string[]; mfa?: boolean },
): Promise<Person> =>
  person(test, { scope: 'partner', partnerId: at.partnerId, mfa: at.mfa ?? true }, (id) =>
    test.sql(
      'insert into partner_users (partner_id, user_id, role_id, org_access, org_ids) values ($1, $2, $3, $4, $5)',
      [at.partnerId, id, at.roleId, at.orgAccess ?? 'all', at.orgIds ?? []],
    ),
  );

export const orgUser = (
  test: Arranged,
  at: { orgId: string; roleId?: string; siteIds?: string[]; deviceGroupIds?: string[]; mfa?: boolean },
): Promise<Person> =>
  person(test, { scope: 'organization', orgId: at.orgId, mfa: at.mfa ?? true }, (id) =>
    test.sql(
      'insert into organization_users (org_id, user_id, role_id, site_ids, device_group_ids) values ($1, $2, $3, $4, $5)',
      [at.orgId, id, at.roleId ?? ROLES.orgAdmin, at.siteIds ?? null, at.deviceGroupIds ?? null],
    ),
  );

/** Another organization with one site under a partner. */
export async function organization(test: Arranged, partnerId: string): Promise<{ orgId: string; siteId: string }> {
  const slug = randomUUID().slice(0, 8);
  const [org] = await test.sql<{ id: string }>(
    'insert into organizations (partner_id, name, slug) values ($1, $2, $3) returning id',
    [partnerId, `Organization ${slug}`, slug],
  );
  const [site] = await test.sql<{ id: string }>('insert into sites (org_id, name) values ($1, $2) returning id', [
    org?.id,
    'Main',
  ]);
  return { orgId: org?.id ?? '', siteId: site?.id ?? '' };
}

/** A partner with one organization, one site, and three people. */
export async function tenant(test: Arranged): Promise<Tenant> {
  const slug = randomUUID().slice(0, 8);
  const [partner] = await test.sql<{ id: string }>(
    `insert into partners (name, slug, status) values ($1, $2, 'active') returning id`,
    [`Partner ${slug}`, slug],
  );
  const partnerId = partner?.id ?? '';
  const [role] = await test.sql<{ id: string }>(
    `insert into roles (partner_id, scope, name, is_system, force_mfa) values ($1, 'partner', 'Partner Admin', true, true) returning id`,
    [partnerId],
  );
  const partnerRoleId = role?.id ?? '';
  await test.sql(
    `insert into role_permissions (role_id, permission_id) select $1, id from permissions where resource = '*'`,
    [partnerRoleId],
  );
  const { orgId, siteId } = await organization(test, partnerId);
  const [admin, orgAdmin, viewer] = await Promise.all([
    partnerUser(test, { partnerId, roleId: partnerRoleId }),
    orgUser(test, { orgId }),
    orgUser(test, { orgId, roleId: ROLES.viewer }),
  ]);
  return { partnerId, partnerRoleId, orgId, siteId, partner: admin, orgAdmin, viewer };
}

/** An API key with exactly these scopes; 1,000 requests an hour unless said otherwise. */
export async function apiKey(
  test: Arranged,
  at: { orgId: string; scopes: string[]; createdBy: string; rateLimit?: number; expiresAt?: Date },
): Promise<string> {
  const made = newApiKey();
  await test.sql(
    `insert into api_keys (org_id, name, key_hash, key_prefix, scopes, created_by, rate_limit, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[at.orgId, 'test', sha256Hex(made.key), made.keyPrefix, at.scopes, at.createdBy],
      ...[at.rateLimit ?? 1000, at.expiresAt ?? null],
    ],
  );
  return made.key;
}
