/** A token that is not, or no longer, good opens no route, whichever it is. */
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import {
  apiKey,
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  orgUser,
  type Person,
  partnerUser,
  systemUser,
} from '#test';
import { type AccessClaims, createTokenSigner } from '../../core/auth/tokens.ts';
import { openInstallation } from './fixtures/installation.ts';
import { fill, takesBody } from './fixtures/paths.ts';

const installation = await openInstallation({ TRUST_PROXY_HEADERS: 'true' });
const { platform, owner, tags } = installation;
const { orgId, siteId, partnerId, partnerRoleId } = owner;
const { jwtSecret } = JSON.parse(await readFile(join(platform.dataDir, 'secrets.json'), 'utf8')) as {
  jwtSecret: string;
};

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
const claimsOf = (person: Person): AccessClaims => ({
  sub: person.id,
  sid: person.sessionId,
  scope: 'system',
  mfa: true,
});
type Options = Omit<Parameters<typeof createTokenSigner>[0], 'secret'> & { secret?: string };
const signed = (person: Person, options: Options = {}, change: object = {}, seconds = 3600) =>
  createTokenSigner({ secret: jwtSecret, ...options }).sign({ ...claimsOf(person), ...change }, seconds);

/** Each of them was an administrator with a running session, until something happened. */
async function ended(happens: string): Promise<string> {
  const person = await systemUser(platform);
  await platform.sql(happens, [happens.includes('sessions') ? person.sessionId : person.id]);
  return person.token;
}

async function forged(): Promise<Record<string, string>> {
  const admin = await systemUser(platform);
  const other = await systemUser(platform);
  const [head = '', body = '', signature = ''] = admin.token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  const none = (alg: string) => `${base64({ alg, typ: 'at+jwt' })}.${body}.`;
  // The secret itself, where a derived key is meant.
  const plainKey = createHmac('sha256', jwtSecret).update(`${head}.${body}`).digest('base64url');
  const gone = await partnerUser(platform, { partnerId, roleId: partnerRoleId });
  const left = await orgUser(platform, { orgId });
  await platform.sql('delete from partner_users where user_id = $1', [gone.id]);
  await platform.sql('delete from organization_users where user_id = $1', [left.id]);
  return {
    'of no algorithm': none('none'),
    'of no algorithm, in another spelling': none('NONE'),
    'without a signature': `${head}.${body}.`,
    'of another secret': await signed(admin, { secret: randomBytes(32).toString('hex') }),
    'signed with the undivided secret': `${head}.${body}.${plainKey}`,
    'for another audience': await signed(admin, { audience: 'quartermaster-portal' }),
    'of another issuer': await signed(admin, { issuer: 'somebody' }),
    'of another type': await signed(admin, { typ: 'JWT' }),
    'that has expired': await signed(admin, { now: () => Date.now() - 7_200_000 }),
    'whose claims were changed': `${head}.${base64({ ...claims, sub: other.id })}.${signature}`,
    'whose signature was changed': `${head}.${body}.${signature.slice(0, -2)}${signature.endsWith('AA') ? 'BB' : 'AA'}`,
    'whose head was changed': `${base64({ alg: 'HS512', typ: 'at+jwt' })}.${body}.${signature}`,
    'of a user with the session of another': await signed(admin, {}, { sub: other.id }),
    'of a session that never was': await signed(admin, {}, { sid: randomUUID() }),
    'without a session': await signed(admin, {}, { sid: undefined }),
    'of a session that was ended': await ended('update sessions set revoked_at = now() where id = $1'),
    'of a session past its time': await ended(`update sessions set expires_at = now() where id = $1`),
    'of a session that was removed': await ended('delete from sessions where id = $1'),
    'of a user who was disabled': await ended(`update users set status = 'disabled' where id = $1`),
    'of a user who is only invited': await ended(`update users set status = 'invited' where id = $1`),
    'of a user without a place any more': await ended('delete from system_users where user_id = $1'),
    'of a user who left the partner': gone.token,
    'of a user who left the organization': left.token,
    'that is an API key': await apiKey(platform, { orgId, scopes: ['*'], createdBy: admin.id }),
    'that is no token': 'token',
    'longer than any token': `${admin.token}${'A'.repeat(5000)}`,
  };
}

const tokens = await forged();
// A session that ended is remembered for a second at most, and none of these was used before.
const agentKey = await enrollmentKey(platform, { orgId, siteId });
const [agent, otherAgent] = [
  await enrollAgent(platform, { key: agentKey }),
  await enrollAgent(platform, { key: agentKey }),
];
const agentTokens: Record<string, string> = {
  'of another agent': otherAgent.token,
  'of nobody': `svc_${randomBytes(32).toString('hex')}`,
  'cut short': agent.token.slice(0, -1),
  'with more at the end': `${agent.token}0`,
  'in capitals': agent.token.toUpperCase(),
  'that is the agent’s id': agent.agentId,
  'of a person': owner.orgAdmin.token,
  'that is an API key': await apiKey(platform, { orgId, scopes: ['*'], createdBy: owner.orgAdmin.id }),
};
test.after.always(() => installation.stop());

async function statuses(
  method: string,
  path: string,
  body: boolean,
  headers: Record<string, string>,
): Promise<unknown> {
  const answer = await platform.call<ErrorBody>(method, path, { headers, ...(body ? { body: {} } : {}) });
  return [answer.status, answer.body.error.code, answer.headers.get('www-authenticate')];
}
const REFUSED = [401, 'UNAUTHENTICATED', 'Bearer'];
const routes = tags.map(({ route }) => route);

for (const route of routes.filter(({ access }) => 'permission' in access)) {
  test.serial(`${route.method} ${route.path} opens to no token that is not good`, async (t) => {
    const path = fill(route, [randomUUID()]);
    const refused = (headers: Record<string, string>) => statuses(route.method, path, takesBody(route), headers);
    await Promise.all(
      Object.entries(tokens).map(async ([what, token]) => {
        t.deepEqual(await refused({ authorization: `Bearer ${token}` }), REFUSED, `a token ${what}`);
      }),
    );
    for (const authorization of [`Basic ${owner.orgAdmin.token}`, owner.orgAdmin.token, 'Bearer', 'Bearer  ']) {
      t.deepEqual(await refused({ authorization }), REFUSED, authorization.slice(0, 20));
    }
    t.deepEqual(await refused({ authorization: `Bearer ${agent.token}` }), REFUSED, 'an agent’s token');
  });
}

for (const [index, route] of routes.filter(({ access }) => 'agent' in access).entries()) {
  test.serial(`${route.method} ${route.path} opens to no token but the agent’s own`, async (t) => {
    const path = fill(route, [agent.agentId, randomUUID()]);
    // Wrong tokens are counted by agent and address; here the token is the subject, not how often it was tried.
    const from = { 'x-forwarded-for': `198.51.100.${index + 1}` };
    for (const [what, token] of [...Object.entries(agentTokens), ...Object.entries(tokens).slice(0, 3)]) {
      const headers = { ...from, authorization: `Bearer ${token}` };
      t.deepEqual(await statuses(route.method, path, takesBody(route), headers), REFUSED, `a token ${what}`);
    }
  });
}

test.serial(
  'the tokens above are refused for what is wrong with them alone: made in the same way, a good one is let in',
  async (t) => {
    const admin = await systemUser(platform);
    t.is((await platform.call('GET', '/orgs/partners', { token: await signed(admin) })).status, 200);
    t.is((await platform.call('GET', '/orgs/partners', { token: admin.token })).status, 200);
    t.is((await agent.heartbeat()).status, 200);
  },
);

test.serial('without a token every route that is not open answers 401', async (t) => {
  for (const route of routes) {
    if ('open' in route.access) continue;
    const path = fill(route, [randomUUID()]);
    const { status } = await platform.call(route.method, path, takesBody(route) ? { body: {} } : {});
    t.is(status, 401, `${route.method} ${route.path}`);
  }
});
