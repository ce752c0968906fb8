/** Settings of partners and organizations: what is checked, what is merged, and what is kept. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, sharedPlatform, systemUser, tenant } from '#test';

interface Settled {
  settings: Record<string, unknown>;
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const { partner, orgId, siteId, partnerId } = await tenant(platform);
  const { token } = partner;
  const path = `/orgs/organizations/${orgId}`;
  const patch = (settings: unknown) => platform.call<Settled & ErrorBody>('PATCH', path, { token, body: { settings } });
  const stored = async () => (await platform.call<Settled>('GET', path, { token })).body.settings;
  return { token, orgId, siteId, partnerId, patch, stored };
}
const paths = ({ body }: { body: ErrorBody }) => body.error.details.map((detail) => detail.path).sort();

test('known keys are kept as their type', async (t) => {
  const { patch, siteId } = await arrange();
  const settings = {
    security: { requireMfa: true, allowedMfaMethods: { sms: false, totp: true } },
    devices: { reenroll: 'reattach' },
    agents: { heartbeatIntervalSeconds: 30 },
    defaultSiteId: siteId,
  };
  const changed = await patch(settings);
  t.is(changed.status, 200);
  t.deepEqual(changed.body.settings, settings);
});

test('wrong values of known keys are refused with their paths, and nothing is written', async (t) => {
  const { patch, stored } = await arrange();
  await patch({ theme: 'dark' });
  const answer = await patch({
    theme: 'light',
    security: { requireMfa: 'perhaps', allowedMfaMethods: { sms: 1 } },
    defaultSiteId: 'here',
    reenroll: 'reattach',
  });
  t.is(answer.status, 400);
  t.deepEqual(paths(answer), [
    'settings.defaultSiteId',
    'settings.reenroll',
    'settings.security.allowedMfaMethods.sms',
    'settings.security.requireMfa',
  ]);
  t.deepEqual(await stored(), { theme: 'dark' });
});

test("a module's part is checked against that module, for organizations and partners alike", async (t) => {
  const { patch, stored, token, partnerId } = await arrange();
  const bad = {
    agents: { heartbeatIntervalSeconds: 1, hartbeat: 5 },
    devices: { reenroll: 'always' },
  };
  const wanted = ['settings.agents.hartbeat', 'settings.agents.heartbeatIntervalSeconds', 'settings.devices.reenroll'];
  t.deepEqual(paths(await patch(bad)), wanted);
  t.deepEqual(paths(await patch({ agents: 5 })), ['settings.agents']);
  t.deepEqual(await stored(), {});
  const own = await platform.call<ErrorBody>('PATCH', '/orgs/partners/me', { token, body: { settings: bad } });
  t.deepEqual(paths(own), wanted);
  const { token: admin } = await systemUser(platform);
  const system = await platform.call<ErrorBody>('PATCH', `/orgs/partners/${partnerId}`, {
    token: admin,
    body: { settings: bad },
  });
  t.deepEqual(paths(system), wanted);
  const made = await platform.call<ErrorBody>('POST', '/orgs/organizations', {
    token,
    body: { name: 'x', slug: `x-${randomUUID().slice(0, 8)}`, settings: bad },
  });
  t.deepEqual(paths(made), wanted);
});

test('a fault that was stored before does not stop other changes', async (t) => {
  const { patch, stored, orgId } = await arrange();
  await platform.sql(
    `update organizations set settings = '{"agents":{"old":1,"tokenRotationDays":9999}}' where id = $1`,
    [orgId],
  );
  t.is((await patch({ agents: { heartbeatIntervalSeconds: 30 } })).status, 200);
  t.deepEqual(paths(await patch({ agents: { tokenRotationDays: 9998 } })), ['settings.agents.tokenRotationDays']);
  t.is((await patch({ agents: { tokenRotationDays: null, old: null } })).status, 200);
  t.deepEqual(await stored(), { agents: { heartbeatIntervalSeconds: 30 } });
});

test('unknown keys are kept as they are sent, and null removes a key', async (t) => {
  const { patch, stored } = await arrange();
  await patch({ branding: { colors: ['#fff'], logo: { url: 'a' } }, seats: 3 });
  await patch({ branding: { logo: { url: 'b' } }, seats: null, security: null });
  t.deepEqual(await stored(), { branding: { colors: ['#fff'], logo: { url: 'b' } } });
});

test('changes at once all stay', async (t) => {
  const { patch, stored } = await arrange();
  await Promise.all([0, 1, 2, 3, 4].map((n) => patch({ [`key${n}`]: n, nested: { [`key${n}`]: n } })));
  const keys = ['key0', 'key1', 'key2', 'key3', 'key4'];
  const got = await stored();
  t.deepEqual(Object.keys(got).sort(), [...keys, 'nested']);
  t.deepEqual(Object.keys(got.nested as object).sort(), keys);
});

test('the default site must be one of the organization', async (t) => {
  const { patch, token } = await arrange();
  const other = await arrange();
  for (const defaultSiteId of [other.siteId, randomUUID()]) {
    t.deepEqual(paths(await patch({ defaultSiteId })), ['settings.defaultSiteId']);
  }
  const made = await platform.call<ErrorBody>('POST', '/orgs/organizations', {
    token,
    body: { name: 'x', slug: 'x', settings: { defaultSiteId: randomUUID() } },
  });
  t.deepEqual(paths(made), ['settings.defaultSiteId']);
});

test('settings do not grow without end, in one change or in many', async (t) => {
  const { patch, stored } = await arrange();
  const fill = (n: number) => ({ [`part${n}`]: 'x'.repeat(20_000) });
  for (const n of [0, 1, 2]) t.is((await patch(fill(n))).status, 200);
  t.deepEqual(paths(await patch(fill(3))), ['settings']);
  t.deepEqual(Object.keys(await stored()), ['part0', 'part1', 'part2']);
});

test('free objects are small, and a readable one takes no secret', async (t) => {
  const { token, orgId, siteId } = await arrange();
  const large = { note: 'x'.repeat(20_000) };
  const patch = (path: string, body: object) => platform.call<ErrorBody>('PATCH', path, { token, body });
  const organization = `/orgs/organizations/${orgId}`;
  t.deepEqual(paths(await patch(organization, { ssoConfig: large, billingContact: large })), [
    'billingContact',
    'ssoConfig',
  ]);
  t.deepEqual(paths(await patch(`/orgs/sites/${siteId}`, { address: large, contact: large, settings: large })), [
    'address',
    'contact',
    'settings',
  ]);
  const secret = await patch(organization, { ssoConfig: { oidc: { clientId: 'a', clientSecret: 'b' } } });
  t.regex(secret.body.error.message, /keep oidc\.clientSecret in a single sign-on provider/);
  const kept = await patch(organization, { ssoConfig: { oidc: { clientId: 'a' } }, billingContact: { name: 'Ada' } });
  t.like(kept.body, { ssoConfig: { oidc: { clientId: 'a' } }, billingContact: { name: 'Ada' } });
});

test("a partner's settings take each documented key", async (t) => {
  const { token } = await arrange();
  const settings = {
    timezone: 'Europe/Vienna',
    dateFormat: 'DD/MM/YYYY',
    timeFormat: '24h',
    language: 'en',
    businessHours: {
      preset: 'custom',
      custom: { monday: { start: '08:00', end: '17:30' }, sunday: { start: '00:00', end: '00:00', closed: true } },
    },
    contact: { name: 'Ada', email: 'ada@example.com', phone: '+43 1', website: 'https://example.com' },
  };
  const answer = await platform.call<Settled>('PATCH', '/orgs/partners/me', { token, body: { settings } });
  t.deepEqual(answer.body.settings, settings);
  const bad = await platform.call<ErrorBody>('PATCH', '/orgs/partners/me', {
    token,
    body: {
      settings: {
        timezone: 'Vienna',
        dateFormat: 'D.M.YY',
        timeFormat: '13h',
        businessHours: { preset: 'never', custom: { monday: { start: '25:00' }, someday: {} } },
        contact: { fax: '1' },
        notAModule: {},
      },
    },
  });
  t.deepEqual(paths(bad), [
    'settings.businessHours.custom.monday.start',
    'settings.businessHours.custom.someday',
    'settings.businessHours.preset',
    'settings.contact.fax',
    'settings.dateFormat',
    'settings.notAModule',
    'settings.timeFormat',
    'settings.timezone',
  ]);
  const unknown = await platform.call<ErrorBody>('PATCH', '/orgs/partners/me', {
    token,
    body: { settings: { printing: {} } },
  });
  t.is(unknown.status, 400);
  t.deepEqual(paths(unknown), ['settings.printing'], 'no module has this name');
});

test("a partner's settings can be written back as they were read", async (t) => {
  const { token, orgId, partnerId } = await arrange();
  const me = (body: object) => platform.call<Settled & ErrorBody>('PATCH', '/orgs/partners/me', { token, body });
  await platform.call('PATCH', '/orgs/organizations/order', { token, body: { organizationOrder: [orgId] } });
  await platform.sql(`update partners set settings = settings || '{"earlier":{"seats":3}}' where id = $1`, [partnerId]);
  const { settings } = (await platform.call<Settled>('GET', '/orgs/partners/me', { token })).body;
  t.deepEqual(settings.organizationOrder, [orgId]);
  const back = await me({ settings: { ...settings, language: 'en' } });
  t.is(back.status, 200);
  t.deepEqual(back.body.settings, { ...settings, language: 'en' });
  const changed = await me({ settings: { organizationOrder: [], earlier: { seats: 4 } } });
  t.deepEqual(paths(changed), ['settings.earlier', 'settings.organizationOrder']);
  t.is((await me({ settings: { earlier: null } })).status, 200, 'an old key can be removed');
});

test('addresses of billing and contacts take what logins take', async (t) => {
  const { token } = await arrange();
  const body = { billingEmail: 'billing@mail.corp', settings: { contact: { email: 'ops@intern.lan' } } };
  const answer = await platform.call<Settled>('PATCH', '/orgs/partners/me', { token, body });
  t.is(answer.status, 200);
  t.like(answer.body, body);
});
