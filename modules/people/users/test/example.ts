/** One invitation into a tenant, and what the contract tests need to know of the operations of this module. */
import { type Example, type ExampleContext, ROLES, shortName, tenant, uniqueName } from '#test';
import { anAddress, fromSomewhere, PASSWORD, tokenFor } from './arrange.ts';

/** An installation that asks for second factors, as accounts are shown in the API document. */
const ACCOUNTS = { TRUST_PROXY_HEADERS: 'true', LOG_LEVEL: 'silent' };

/** The token of an invitation that has been mailed, on the platform of accounts. */
async function invited({ platformWith }: ExampleContext) {
  const platform = await platformWith(ACCOUNTS);
  const { orgAdmin } = await tenant(platform);
  const email = anAddress();
  const body = { email, name: 'Ada Turner', roleId: ROLES.viewer };
  await platform.call('POST', '/users/invite', { token: orgAdmin.token, body });
  return { platform, headers: fromSomewhere(), token: await tokenFor(platform, email) };
}

const example: Example = {
  make: (platform, { orgAdmin }) =>
    platform.call('POST', '/users/invite', {
      token: orgAdmin.token,
      body: { email: 'example@example.com', name: 'Example', roleId: ROLES.viewer },
    }),
  bodies: {
    'POST /users/invite': () => ({ email: `${shortName()}@example.com`, name: 'New', roleId: ROLES.viewer }),
    'POST /users/{id}/role': () => ({ roleId: ROLES.technician }),
    'PATCH /users/{id}': () => ({ name: uniqueName() }),
    async 'POST /users/resend-invite'({ platform, tenant: { orgId } }) {
      const [row] = await platform.sql<{ id: string }>('select id from invitations where org_id = $1 limit 1', [orgId]);
      return { userId: row?.id ?? '' };
    },
  },
  callsElsewhere: {
    async 'POST /users/{id}/reset-mfa'({ platformWith }) {
      const platform = await platformWith(ACCOUNTS);
      const { orgAdmin, viewer } = await tenant(platform);
      await platform.sql(`update users set mfa_enabled = true, mfa_method = 'totp' where id = $1`, [viewer.id]);
      return { platform, path: `/users/${viewer.id}/reset-mfa`, token: orgAdmin.token, body: {} };
    },
    async 'POST /auth/invitations/check'(context) {
      const { platform, headers, token } = await invited(context);
      return { platform, headers, path: '/auth/invitations/check', body: { token } };
    },
    async 'POST /auth/accept-invite'(context) {
      const { platform, headers, token } = await invited(context);
      const body = { token, name: 'Ada Turner', password: PASSWORD };
      return { platform, headers, path: '/auth/accept-invite', body };
    },
  },
  testedIn: {
    'POST /users/{id}/reset-mfa': { test: 'factor-resets.test.ts', why: 'requires a user with a second factor' },
  },
  turns: { 'DELETE /users/{id}': 2 },
  peopleOnly: [
    [/ \/users\/\{id\}\/reset-mfa$/, 'a person answers for removing a second factor, in a session that showed one'],
    [/ \/users\/me(\/|$)/, 'the account of the person who calls: a key has none'],
  ],
  changes: {
    '/users': {
      make: (sql, { partnerId, partnerRoleId }, id) =>
        sql(
          `with u as (insert into users (id, email, name) values ($1::uuid, $1::uuid::text, 'Somebody') returning id)
           insert into partner_users (user_id, partner_id, role_id) select id, $2, $3 from u`,
          [id, partnerId, partnerRoleId],
        ),
      touch: (sql, id) => sql(`update users set name = 'Another' where id = $1`, [id]),
      remove: (sql, id) => sql('delete from partner_users where user_id = $1', [id]),
    },
  },
};
export default example;
