/** Suspended, churned and removed tenants: who is still served, in every process, within a second. */
import test from 'ava';
import {
  apiKey,
  call,
  type ErrorBody,
  enrollAgent,
  enrollmentBody,
  enrollmentKey,
  joinTestPlatform,
  startTestPlatform,
  systemUser,
  tenant,
  within,
} from '#test';

// Each tenant's machines have an address of their own: the limit by address is not the subject here.
const env = { TRUST_PROXY_HEADERS: 'true' };
const first = await startTestPlatform(env);
const second = await joinTestPlatform(first, env);
let tenants = 0;
test.after.always(async () => {
  await second.stop();
  await first.stop();
});

interface Asked {
  method: string;
  path: string;
  token?: string;
  apiKey?: string;
  body?: object;
  headers?: Record<string, string>;
}

/** A tenant with an agent, and what each of its callers does in the second process. */
async function arrange() {
  const made = await tenant(first);
  const { orgId, siteId, partner, orgAdmin } = made;
  const key = await enrollmentKey(first, { orgId, siteId });
  tenants += 1;
  const headers = { 'x-forwarded-for': `198.51.100.${tenants}` };
  const agent = await enrollAgent(first, { key, headers });
  const at = `/agents/${agent.agentId}`;
  const asked: Record<string, Asked> = {
    'partner user': { method: 'GET', path: `/orgs/organizations/${orgId}`, token: partner.token },
    'organization user': { method: 'GET', path: '/orgs/sites', token: orgAdmin.token },
    'API key': {
      method: 'GET',
      path: '/orgs/sites',
      apiKey: await apiKey(first, { orgId, scopes: ['sites:read'], createdBy: orgAdmin.id }),
    },
    heartbeat: {
      method: 'POST',
      path: `${at}/heartbeat`,
      token: agent.token,
      body: { status: 'ok', agentVersion: '1.0.0' },
    },
    'commands of an agent': { method: 'GET', path: `${at}/commands`, token: agent.token },
    'inventory of an agent': { method: 'PUT', path: `${at}/software`, token: agent.token, body: { software: [] } },
    'configuration of an agent': { method: 'GET', path: `${at}/config`, token: agent.token },
    enrollment: { method: 'POST', path: '/agents/enroll', body: enrollmentBody(key), headers },
  };
  return { ...made, asked };
}
const ask = ({ method, path, ...options }: Asked) =>
  call<Partial<ErrorBody>>(second.url, method, path, options).then(({ status, body }) =>
    body?.error ? `${status} ${body.error.code}` : String(status),
  );
async function askAll(asked: Record<string, Asked>): Promise<Record<string, string>> {
  const got: Record<string, string> = {};
  for (const [who, one] of Object.entries(asked)) got[who] = await ask(one);
  return got;
}

/** Whether the answer is the wanted one within a second. */
const answers = (asked: Asked | undefined, wanted: string) =>
  within(1000, async () => asked !== undefined && (await ask(asked)) === wanted);

const SERVED = {
  'partner user': '200',
  'organization user': '200',
  'API key': '200',
  heartbeat: '200',
  'commands of an agent': '200',
  'inventory of an agent': '200',
  'configuration of an agent': '200',
  enrollment: '201',
};
/** Agents may still be drained: heartbeat, commands, logs, rotation. */
const CLOSED = {
  ...SERVED,
  'organization user': '403 ORG_ACCESS_DENIED',
  'API key': '403 ORG_ACCESS_DENIED',
  'inventory of an agent': '403 TENANT_INACTIVE',
  'configuration of an agent': '403 TENANT_INACTIVE',
  enrollment: '403 TENANT_INACTIVE',
};
const PARTNER_CLOSED = {
  ...CLOSED,
  'partner user': '403 PARTNER_INACTIVE',
  'organization user': '403 PARTNER_INACTIVE',
  'API key': '403 PARTNER_INACTIVE',
};

for (const status of ['suspended', 'churned']) {
  test(`a ${status} organization serves neither users nor agents, and is open again when active`, async (t) => {
    const { asked, orgId, partner } = await arrange();
    const set = (to: string) =>
      first.call('PATCH', `/orgs/organizations/${orgId}`, { token: partner.token, body: { status: to } });
    t.deepEqual(await askAll(asked), SERVED);
    t.is((await set(status)).status, 200);
    for (const who of ['organization user', 'API key', 'inventory of an agent', 'enrollment'] as const) {
      t.true(await answers(asked[who], CLOSED[who]), who);
    }
    t.deepEqual(await askAll(asked), CLOSED);
    await set('trial');
    for (const who of ['organization user', 'inventory of an agent'] as const) {
      t.true(await answers(asked[who], '200'), who);
    }
    t.deepEqual(await askAll(asked), SERVED);
  });
}

for (const status of ['suspended', 'churned', 'pending']) {
  test(`a ${status} partner serves nobody below it, and is open again when active`, async (t) => {
    const { asked, partnerId } = await arrange();
    const { token } = await systemUser(first);
    const set = (to: string) => first.call('PATCH', `/orgs/partners/${partnerId}`, { token, body: { status: to } });
    t.deepEqual(await askAll(asked), SERVED);
    t.is((await set(status)).status, 200);
    for (const who of ['partner user', 'organization user', 'API key', 'inventory of an agent'] as const) {
      t.true(await answers(asked[who], PARTNER_CLOSED[who]), who);
    }
    t.deepEqual(await askAll(asked), PARTNER_CLOSED);
    const told = await first.call<ErrorBody>('GET', '/orgs/partners/me', { token: asked['partner user']?.token ?? '' });
    t.is(told.body.error.code, 'PARTNER_INACTIVE');
    await set('active');
    for (const who of ['partner user', 'inventory of an agent'] as const) {
      t.true(await answers(asked[who], '200'), who);
    }
  });
}

test('a removed organization is gone for its partner and closed for its own users and agents', async (t) => {
  const { asked, orgId, partner } = await arrange();
  t.deepEqual(await askAll(asked), SERVED);
  await first.call('DELETE', `/orgs/organizations/${orgId}`, partner);
  for (const who of ['partner user', 'organization user', 'inventory of an agent'] as const) {
    const wanted = { ...CLOSED, 'partner user': '404 NOT_FOUND' }[who];
    t.true(await answers(asked[who], wanted), who);
  }
  t.deepEqual(await askAll(asked), { ...CLOSED, 'partner user': '404 NOT_FOUND' });
});

test('a removed partner is closed for everybody below it', async (t) => {
  const { asked, partnerId } = await arrange();
  t.deepEqual(await askAll(asked), SERVED);
  await first.call('DELETE', `/orgs/partners/${partnerId}`, await systemUser(first));
  for (const who of ['partner user', 'organization user', 'inventory of an agent'] as const) {
    t.true(await answers(asked[who], PARTNER_CLOSED[who]), who);
  }
  t.deepEqual(await askAll(asked), PARTNER_CLOSED);
});
