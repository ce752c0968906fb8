/** The platform and the calls that the tests of this module share. */
import test from 'ava';
import { type ErrorBody, orgUser, type Person, startTestPlatform, type Tenant, tenant } from '#test';

export interface Pair {
  resource: string;
  action: string;
}
export interface RoleBody extends ErrorBody {
  id: string;
  name: string;
  scope: string;
  orgId: string | null;
  partnerId: string | null;
  parentRoleId: string | null;
  description: string | null;
  isSystem: boolean;
  forceMfa: boolean;
  userCount: number;
  permissions: Pair[];
}

export const platform = await startTestPlatform();
test.after.always(() => platform.stop());

export async function place(): Promise<Tenant> {
  const made = await tenant(platform);
  await enrolled(made);
  return made;
}
/** Gives a partner's people an authenticator: Partner Admin demands one, where two-factor is on. */
export const enrolled = ({ partnerId }: { partnerId: string }) =>
  platform.sql(
    `update users set mfa_enabled = true, mfa_method = 'totp'
     where id in (select user_id from partner_users where partner_id = $1)`,
    [partnerId],
  );

export const pairs = (...words: string[]): Pair[] =>
  words.map((word) => ({ resource: word.split(':')[0] ?? '', action: word.split(':')[1] ?? '' }));
export const words = (body: { permissions: Pair[] }) => body.permissions.map((p) => `${p.resource}:${p.action}`).sort();

export const call = <B = RoleBody>(method: string, path: string, { token }: { token: string }, body?: object) =>
  platform.call<B>(method, `/roles${path}`, { token, ...(body ? { body } : {}) });

/** A role that must come into being. */
export async function make(by: { token: string }, name: string, more: object = {}): Promise<RoleBody> {
  const { status, body } = await call('POST', '', by, { name, ...more });
  if (status !== 201) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`);
  return body;
}
/** Somebody in the organization with a new role that has these permissions. */
export async function someone(
  at: { orgId: string; orgAdmin: Person },
  permissions: string[],
  limits: { siteIds?: string[]; mfa?: boolean } = {},
): Promise<Person & { roleId: string }> {
  const role = await make(at.orgAdmin, `Role of ${permissions.length} ${Math.random()}`, {
    permissions: pairs(...permissions),
  });
  return { ...(await orgUser(platform, { orgId: at.orgId, roleId: role.id, ...limits })), roleId: role.id };
}
/** Waits until a transaction waits for the one with this process id. */
export async function somebodyWaits(pid: number): Promise<void> {
  for (;;) {
    const [row] = await platform.sql('select 1 from pg_stat_activity where $1 = any(pg_blocking_pids(pid))', [pid]);
    if (row) return;
  }
}
