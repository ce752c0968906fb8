/** Finds the user for a person from a provider: linked before, found by address, invited or provisioned. */
import type { Context } from '#core';
import { type LoginErrorCode, LoginRefused } from '../errors.ts';
import type { Provider } from '../models/provider.ts';
import type { Person } from './claims.ts';

interface Account {
  id: string;
  email: string;
  name: string;
  status: 'active' | 'invited' | 'disabled';
  mfaEnabled: boolean;
}
type Serving = Pick<Provider, 'id' | 'orgId' | 'name' | 'autoProvision' | 'defaultRoleId'>;

const COLUMNS = 'u.id, u.email, u.name, u.status, u.mfa_enabled as "mfaEnabled"';
/** Locks the account, so that it is not disabled during the login, and before its memberships, as everywhere. */
const HELD = 'for no key update of u';

const loginRefused = (code: LoginErrorCode, message: string, account: Account | null = null) =>
  new LoginRefused(code, message, account && { id: account.id, email: account.email });

/**
 * The account of a person whom the provider has identified, created and made a member if the settings say so; all of it or
 * nothing. Throws LoginRefused. Needs the platform role.
 */
export async function admit(ctx: Context, provider: Serving, person: Person): Promise<Account> {
  return resolve(ctx, provider, person).catch((error: unknown) => {
    if (error instanceof LoginRefused && error.user) recordFailure(ctx, provider, error.user, error.message);
    throw error;
  });
}

async function resolve(ctx: Context, provider: Serving, person: Person): Promise<Account> {
  // Two first logins of one person run one after the other.
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`sso:${provider.orgId}:${person.email}`]);
  const { rows } = await ctx.sql<Account>(
    `select ${COLUMNS} from sso_identities i join users u on u.id = i.user_id
     where i.provider_id = $1 and i.subject = $2 ${HELD}`,
    [provider.id, person.subject],
  );
  const account = rows[0] ? await returning(ctx, provider, rows[0]) : await arriving(ctx, provider, person);
  await ctx.sql(
    `insert into sso_identities (org_id, provider_id, user_id, subject, email) values ($1, $2, $3, $4, $5)
     on conflict (provider_id, subject) do update set last_login_at = now(), email = excluded.email`,
    [provider.orgId, provider.id, account.id, person.subject, person.email],
  );
  return account;
}

/** A user linked before. A user that an administrator removed returns only by an invitation, not by provisioning. */
async function returning(ctx: Context, provider: Serving, account: Account): Promise<Account> {
  mustBeActive(account);
  const places = await ctx.use('identity').placesOf(account.id);
  const here = places.some((place) => place.orgId === provider.orgId);
  if (!here && !(await takeInvitation(ctx, provider.orgId, account))) {
    throw loginRefused('no_org_access', 'the user is no member of the organization any more', account);
  }
  await mayActFor(ctx, provider.orgId, account);
  return account;
}

/** A person whom this provider identifies for the first time. */
async function arriving(ctx: Context, provider: Serving, person: Person): Promise<Account> {
  if (!person.emailVerified)
    throw loginRefused('email_not_verified', 'the provider does not say that the address was verified');
  const { rows } = await ctx.sql<Account>(`select ${COLUMNS} from users u where lower(u.email) = $1 ${HELD}`, [
    person.email,
  ]);
  return rows[0] ? link(ctx, provider, rows[0]) : provision(ctx, provider, person);
}

/**
 * An account found by address. The organization's administrators choose the provider, so no user who is more than a
 * member of this organization is ever matched by address.
 */
async function link(ctx: Context, provider: Serving, account: Account): Promise<Account> {
  mustBeActive(account);
  const places = await ctx.use('identity').placesOf(account.id);
  const here = places.some((place) => place.orgId === provider.orgId);
  if (places.some((place) => place.orgId !== provider.orgId)) {
    throw here
      ? loginRefused('link_refused', 'the user has places outside the organization', account)
      : loginRefused('no_org_access', 'the user is no member of the organization', account);
  }
  const { rowCount } = await ctx.sql('select from sso_identities where provider_id = $1 and user_id = $2', [
    provider.id,
    account.id,
  ]);
  // The provider gave the address to another person, or created the person again.
  if (rowCount !== 0) throw loginRefused('link_refused', 'the user is linked to another subject', account);
  if (!here) {
    await forgetUnproven(ctx, account);
    // The error rolls this back.
    if (!(await place(ctx, provider, account))) {
      throw loginRefused('no_org_access', 'the user is no member of the organization', account);
    }
  }
  recordLink(ctx, provider, account);
  return account;
}

/** A person without an account. */
async function provision(ctx: Context, provider: Serving, { email, name }: Person): Promise<Account> {
  const id = await ctx.use('identity').createUser({ email, name, passwordHash: null });
  // Registered at this moment; the next attempt finds the account.
  if (!id) throw loginRefused('user_not_found', 'the account was made at the same time');
  const account: Account = { id, email, name, status: 'active', mfaEnabled: false };
  ctx.audit('user.create', { ...entry(provider, account), details: { email, via: 'sso', provider: provider.name } });
  // The error rolls the account back.
  if (!(await place(ctx, provider, account)))
    throw loginRefused('user_not_found', 'there is no account with this address');
  recordLink(ctx, provider, account);
  return account;
}

/** Makes the account a member by its invitation, else by the provider's default role. False where there is neither. */
async function place(ctx: Context, provider: Serving, account: Account): Promise<boolean> {
  const { orgId, autoProvision, defaultRoleId } = provider;
  if (await takeInvitation(ctx, orgId, account)) return true;
  if (!autoProvision) return false;
  const added =
    defaultRoleId && (await ctx.use('users').addMember({ orgId, userId: account.id, roleId: defaultRoleId }));
  if (!added) throw loginRefused('default_role_required', 'the provider has no default role that can be given');
  return true;
}

const takeInvitation = async (ctx: Context, orgId: string, { id, email }: Account): Promise<boolean> =>
  (await ctx.use('users').takeInvitation({ orgId, email, userId: id })) !== null;

function mustBeActive(account: Account): void {
  if (account.status !== 'active') throw loginRefused('no_org_access', 'the user is not active', account);
}

/**
 * Whether the provider alone may open the account. A session can change the whole account, so a user who has become a
 * member elsewhere since the account was linked also needs the user's own second factor. Throws `link_refused`
 * where there is none. Needs the platform role.
 */
export async function mayActFor(
  ctx: Context,
  orgId: string,
  account: Pick<Account, 'id' | 'email' | 'mfaEnabled'>,
): Promise<'alone' | 'with own second factor'> {
  const places = await ctx.use('identity').placesOf(account.id);
  if (places.every((place) => place.orgId === orgId)) return 'alone';
  if (account.mfaEnabled && ctx.services.config.identity.twoFactor) return 'with own second factor';
  const { id, email } = account;
  throw new LoginRefused('link_refused', 'the user has places elsewhere and no second factor', { id, email });
}

/**
 * The address was never verified: the account may have been registered by a stranger who waits for the owner of the address
 * to join. Its password is removed and its sessions end; a reset link sets a password again.
 */
async function forgetUnproven(ctx: Context, { id }: Account): Promise<void> {
  await ctx.sql('update users set password_hash = null where id = $1', [id]);
  await ctx.use('identity').endSessions(id);
}

const entry = ({ orgId }: Serving, { id, email }: Pick<Account, 'id' | 'email'>) => ({
  orgId,
  resourceType: 'user',
  resourceId: id,
  resourceName: email,
  actor: { kind: 'user' as const, id, email },
});

function recordLink(ctx: Context, provider: Serving, account: Account): void {
  ctx.audit('sso.identity.link', { ...entry(provider, account), details: { provider: provider.name } });
}

function recordFailure(ctx: Context, provider: Serving, user: { id: string; email: string }, reason: string): void {
  ctx.auditAttempt('user.login.failed', {
    ...entry(provider, user),
    result: 'failure',
    errorMessage: reason,
    details: { via: 'sso', provider: provider.name },
  });
}
