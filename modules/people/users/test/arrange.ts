/** What the tests of this module share: calls, roles, and the links that arrive by mail. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Context, EVERYWHERE, NOBODY } from '#core';
import { runUnitOfWork } from '#core/work';
import { type ErrorBody, ROLES, type TestPlatform } from '#test';

export const PASSWORD = 'quite-a-Long-horse-9';
export const anAddress = () => `${randomUUID().slice(0, 8)}@example.com`;
/** An address of its own, so that limits by address do not mix tests. */
export const fromSomewhere = () => ({
  'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`,
});

export interface Item {
  id: string;
  email: string;
  name: string;
  status: string;
  roleId: string;
  roleName: string;
  mfaEnabled: boolean;
  createdAt: string;
  siteIds?: string[] | null;
  deviceGroupIds?: string[] | null;
  orgAccess?: string;
  orgIds?: string[];
  invitationExpiresAt?: string;
}
export type Answer = Item & ErrorBody & { success?: boolean };

export const caller = (platform: TestPlatform) => ({
  as: (token: string, method: string, path: string, body?: object) =>
    platform.call<Answer>(method, path, { token, ...(body ? { body } : {}) }),
  invite: (token: string, body: object = {}) =>
    platform.call<Answer>('POST', '/users/invite', {
      token,
      body: { email: anAddress(), name: 'Ann Example', roleId: ROLES.viewer, ...body },
    }),
  list: async (token: string, query = '') =>
    (
      await platform.call<{ data: Item[]; pagination: { total: number; cursor: string | null } }>(
        'GET',
        `/users?${query}`,
        { token },
      )
    ).body,
  open: (path: string, body: object) =>
    platform.call<
      Answer & {
        user?: { id: string };
        tokens?: { accessToken: string };
        loginRequired?: boolean;
        accountExists?: boolean;
        passwordRequired?: boolean;
        confirmationRequired?: boolean;
        tenant?: { kind: string; name: string };
      }
    >('POST', `/auth/${path}`, { body, headers: fromSomewhere() }),
});

/** The texts of all mails to an address, oldest first. */
export async function mailsTo(platform: TestPlatform, email: string): Promise<string[]> {
  await platform.runJobs();
  const folder = join(platform.dataDir, 'mail');
  const names = (await readdir(folder).catch(() => [])).sort();
  const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
  return mails.filter((mail) => mail.includes(`To: ${email}`)).map(unfold);
}
/** Quoted-printable undone as far as a link needs it. */
export const unfold = (mail: string) => mail.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
export const tokenIn = (mail: string) => /accept-invite\?token=(inv_[\w-]+)/.exec(mail)?.[1] ?? '';
/** The token of the newest mail to an address. */
export const tokenFor = async (platform: TestPlatform, email: string) =>
  tokenIn((await mailsTo(platform, email)).at(-1) ?? '');

/** A role of an organization or a partner with these pairs. */
export async function role(
  platform: TestPlatform,
  owner: { orgId?: string; partnerId?: string },
  pairs: string[],
): Promise<string> {
  const [made] = await platform.sql<{ id: string }>(
    'insert into roles (org_id, partner_id, scope, name) values ($1, $2, $3, $4) returning id',
    [owner.orgId ?? null, owner.partnerId ?? null, owner.orgId ? 'organization' : 'partner', `Role ${randomUUID()}`],
  );
  await platform.sql(
    `insert into role_permissions (role_id, permission_id)
     select $1, id from permissions where resource || ':' || action = any($2)`,
    [made?.id, pairs],
  );
  return made?.id ?? '';
}

/** Work on the platform's role, as a job or a login of another module does it. */
export const onPlatform = <T>(platform: TestPlatform, run: (ctx: Context) => Promise<T>): Promise<T> => {
  const { work, log } = platform.platform.tasks;
  return runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
};
