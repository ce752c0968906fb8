/** Who a session or an API key stands for right now: one query, remembered for a second or until a change is announced. */
import type pg from 'pg';
import type { Actor, Scope } from '../context/index.ts';
import { NOWHERE } from '../context/index.ts';

const REMEMBER_MS = 1000;
const MAX_KNOWN = 20_000;

export interface Principal {
  actor: Omit<Actor, 'ip' | 'userAgent'>;
  scope: Scope;
  partnerActive: boolean;
  orgActive: boolean;
}
export interface KeyPrincipal extends Principal {
  keyId: string;
  status: 'active' | 'expired' | 'revoked';
  expired: boolean;
  rateLimit: number;
}

/** Remembers answers for a second; callers at the same time share one query. */
class Memory<T> {
  private readonly known = new Map<string, { until: number; value: Promise<T> }>();

  get(key: string, load: () => Promise<T>): Promise<T> {
    const now = Date.now();
    const found = this.known.get(key);
    if (found && found.until > now) return found.value;
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    const value = load();
    this.known.set(key, { until: now + REMEMBER_MS, value });
    value.catch(() => this.known.delete(key));
    return value;
  }

  clear(): void {
    this.known.clear();
  }
}

const PERMISSIONS = `(with recursive chain as (
    select id, parent_role_id, 1 as depth from roles where id = role.role_id
    union all select r.id, r.parent_role_id, chain.depth + 1 from roles r join chain on r.id = chain.parent_role_id
    where chain.depth < 20)
  select coalesce(array_agg(distinct p.resource || ':' || p.action), '{}') from chain
  join role_permissions rp on rp.role_id = chain.id join permissions p on p.id = rp.permission_id)`;

const BY_SESSION = `
select u.id as user_id, u.email, u.name, u.mfa_enabled, u.mfa_method, s.id as session_id, s.mfa, s.scope, role.role_id, r.force_mfa,
  coalesce(o.settings -> 'security' ->> 'requireMfa' = 'true', false) as org_wants_mfa,
  coalesce(o.settings #>> '{security,allowedMfaMethods,sms}', 'true') <> 'false' as org_allows_sms,
  coalesce(s.partner_id, o.partner_id) as partner_id, s.org_id, pu.org_access, ou.site_ids, ou.device_group_ids,
  s.scope = 'system' or (p.status = 'active' and p.deleted_at is null) as partner_active,
  s.scope <> 'organization' or (o.status in ('active', 'trial') and o.deleted_at is null) as org_active,
  case when s.scope = 'partner' then (
    select coalesce(array_agg(x.id order by x.id), '{}') from organizations x
    where x.partner_id = s.partner_id and x.deleted_at is null
      and (pu.org_access = 'all' or (pu.org_access = 'selected' and x.id = any(pu.org_ids)))) end as org_ids,
  ${PERMISSIONS} as permissions
from sessions s
join users u on u.id = s.user_id and u.status = 'active'
left join organizations o on o.id = s.org_id
left join partners p on p.id = coalesce(s.partner_id, o.partner_id)
left join partner_users pu on s.scope = 'partner' and pu.user_id = u.id and pu.partner_id = s.partner_id
left join organization_users ou on s.scope = 'organization' and ou.user_id = u.id and ou.org_id = s.org_id
left join system_users su on s.scope = 'system' and su.user_id = u.id
cross join lateral (select coalesce(pu.role_id, ou.role_id, su.role_id) as role_id) role
join roles r on r.id = role.role_id
where s.id = $1 and s.revoked_at is null and s.expires_at > now()`;

const BY_KEY = `
select k.id, k.name, k.scopes, k.status, k.expires_at <= now() as expired, k.rate_limit, k.org_id, o.partner_id,
  p.status = 'active' and p.deleted_at is null as partner_active,
  o.status in ('active', 'trial') and o.deleted_at is null as org_active
from api_keys k join organizations o on o.id = k.org_id join partners p on p.id = o.partner_id
where k.key_hash = $1`;

const PARTNER_OF = `
select o.partner_id from organizations o join partners p on p.id = o.partner_id
where o.id = $1 and o.deleted_at is null and p.deleted_at is null and p.status = 'active'`;

interface SessionRow {
  user_id: string;
  email: string;
  name: string;
  mfa_enabled: boolean;
  mfa_method: 'totp' | 'sms' | null;
  session_id: string;
  mfa: boolean;
  scope: 'system' | 'partner' | 'organization';
  role_id: string;
  force_mfa: boolean;
  org_wants_mfa: boolean;
  org_allows_sms: boolean;
  partner_id: string | null;
  org_id: string | null;
  org_access: 'all' | 'selected' | 'none' | null;
  site_ids: string[] | null;
  device_group_ids: string[] | null;
  partner_active: boolean;
  org_active: boolean;
  org_ids: string[] | null;
  permissions: string[];
}

function scopeOf(row: SessionRow): Scope {
  if (row.scope === 'system') return { ...NOWHERE, kind: 'system', orgIds: null, allOrgs: true };
  if (row.scope === 'partner') {
    return {
      ...NOWHERE,
      kind: 'partner',
      partnerId: row.partner_id,
      ownerPartnerId: row.partner_id,
      orgIds: row.org_ids ?? [],
      allOrgs: row.org_access === 'all',
    };
  }
  const limit = (ids: string[] | null) => (ids && ids.length > 0 ? ids : null);
  return {
    ...NOWHERE,
    kind: 'organization',
    orgId: row.org_id,
    orgIds: row.org_id ? [row.org_id] : [],
    ownerPartnerId: row.partner_id,
    siteIds: limit(row.site_ids),
    groupIds: limit(row.device_group_ids),
  };
}

/** A Force MFA role wants an authenticator; an organization is content with any second factor that it allows. */
function mustEnroll({ mfa_enabled: on, mfa_method: method, ...row }: SessionRow): boolean {
  const forRole = on && method === 'totp';
  const forOrg = on && (method !== 'sms' || row.org_allows_sms);
  return (row.force_mfa && !forRole) || (row.org_wants_mfa && !forOrg);
}

export class Principals {
  private readonly pool: pg.Pool;
  private readonly sessions = new Memory<Principal | null>();
  private readonly keys = new Memory<KeyPrincipal | null>();
  private readonly partners = new Memory<string | null>();
  private readonly listeners: (() => void)[] = [];

  /** @param pool the platform role's: who the caller is comes before what the caller reaches. */
  constructor(pool: pg.Pool) {
    this.pool = pool;
  }

  /** Null when the session has ended, the user is not active, or the association is gone. */
  bySession(sessionId: string): Promise<Principal | null> {
    return this.sessions.get(sessionId, async () => {
      const { rows } = await this.pool.query<SessionRow>({
        name: 'core-session',
        text: BY_SESSION,
        values: [sessionId],
      });
      const row = rows[0];
      if (!row) return null;
      return {
        actor: {
          kind: 'user',
          id: row.user_id,
          email: row.email,
          name: row.name,
          mfa: row.mfa,
          mustEnrollMfa: mustEnroll(row),
          permissions: new Set(row.permissions),
          roleId: row.role_id,
          sessionId: row.session_id,
        },
        scope: scopeOf(row),
        partnerActive: row.partner_active,
        orgActive: row.org_active,
      };
    });
  }

  /** Null when no key has this hash. */
  byKeyHash(hash: string): Promise<KeyPrincipal | null> {
    return this.keys.get(hash, async () => {
      const { rows } = await this.pool.query({ name: 'core-api-key', text: BY_KEY, values: [hash] });
      const row = rows[0];
      if (!row) return null;
      return {
        keyId: row.id,
        status: row.status,
        expired: row.expired === true,
        rateLimit: row.rate_limit,
        actor: {
          kind: 'api_key',
          id: row.id,
          email: null,
          name: row.name,
          mfa: false,
          mustEnrollMfa: false,
          permissions: new Set<string>(row.scopes),
          roleId: null,
          sessionId: null,
        },
        scope: {
          ...NOWHERE,
          kind: 'organization',
          orgId: row.org_id,
          orgIds: [row.org_id],
          ownerPartnerId: row.partner_id,
        },
        partnerActive: row.partner_active,
        orgActive: row.org_active,
      };
    });
  }

  /** The partner above an organization, for a job's scope; null when either is gone or the partner is not active. */
  partnerOf(orgId: string): Promise<string | null> {
    return this.partners.get(orgId, async () => {
      const { rows } = await this.pool.query<{ partner_id: string }>({
        name: 'core-partner-of',
        text: PARTNER_OF,
        values: [orgId],
      });
      return rows[0]?.partner_id ?? null;
    });
  }

  /** Called when anything changed that decides who a caller is or what they reach. */
  forgetAll(): void {
    this.sessions.clear();
    this.keys.clear();
    this.partners.clear();
    for (const listener of this.listeners) listener();
  }

  /** Called after the remembered principals were forgotten: a listener that asks again gets the new answer. */
  onForgotten(listener: () => void): void {
    this.listeners.push(listener);
  }
}
