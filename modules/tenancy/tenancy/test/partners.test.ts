/** Partners through the API: provisioning by the system, and each partner's own record. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, partnerUser, sharedPlatform, systemUser, tenant } from '#test';

interface Partner {
  id: string;
  settings: Record<string, unknown>;
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

test('the system creates, reads, lists, changes and removes a partner', async (t) => {
  const { token } = await systemUser(platform);
  const slug = `p-${randomUUID().slice(0, 8)}`;
  const body = { name: 'Northwind', slug, maxOrganizations: 3 };
  const made = await platform.call<Partner>('POST', '/orgs/partners', { token, body });
  t.is(made.status, 201);
  t.like(made.body, { name: 'Northwind', type: 'msp', plan: 'free', status: 'active', maxOrganizations: 3 });
  const path = `/orgs/partners/${made.body.id}`;
  t.is((await platform.call('POST', '/orgs/partners', { token, body })).status, 409);
  t.like((await platform.call('PATCH', path, { token, body: { plan: 'pro' } })).body, { plan: 'pro' });
  const none = await platform.call<ErrorBody>('PATCH', path, { token, body: {} });
  t.is(none.body.error.message, 'No updates provided');
  const list = await platform.call<{ data: Partner[] }>('GET', '/orgs/partners?cursor=&limit=100', { token });
  t.true(list.body.data.some((partner) => partner.id === made.body.id));
  t.deepEqual((await platform.call('DELETE', path, { token })).body, { success: true });
  const gone = await platform.call<ErrorBody>('GET', path, { token });
  t.is(gone.body.error.message, 'Partner not found');
  t.is((await platform.call('DELETE', path, { token })).status, 404);
  const rows = (await platform.audits()).filter((row) => row.resource_id === made.body.id);
  t.deepEqual(
    rows.map((row) => [row.action, row.details]),
    [
      ['partner.create', {}],
      ['partner.update', { changedFields: ['plan'], before: { plan: 'free' }, after: { plan: 'pro' } }],
      ['partner.delete', {}],
    ],
  );
});

test('partner and organization users do not reach the partners of the system', async (t) => {
  const { partner, orgAdmin, partnerId } = await tenant(platform);
  for (const { token } of [partner, orgAdmin]) {
    t.is((await platform.call('GET', '/orgs/partners', { token })).status, 403);
    t.is((await platform.call('GET', `/orgs/partners/${partnerId}`, { token })).status, 403);
    t.is((await platform.call('DELETE', `/orgs/partners/${partnerId}`, { token })).status, 403);
  }
  t.is((await platform.call('GET', '/orgs/partners/me', { token: orgAdmin.token })).status, 403);
});

test('a partner changes its own settings, and only the keys it sends', async (t) => {
  const { partner, partnerId } = await tenant(platform);
  const { token } = partner;
  const patch = (settings: object) =>
    platform.call<Partner>('PATCH', '/orgs/partners/me', { token, body: { settings } });
  await patch({
    timezone: 'Europe/Vienna',
    contact: { name: 'Ada', phone: '1' },
    agents: { heartbeatIntervalSeconds: 30 },
  });
  const changed = await patch({ contact: { phone: '2' }, timezone: null });
  t.deepEqual(changed.body.settings, {
    contact: { name: 'Ada', phone: '2' },
    agents: { heartbeatIntervalSeconds: 30 },
  });
  const audits = (await platform.audits({ action: 'partner.settings.update' })).filter(
    (row) => row.resource_id === partnerId,
  );
  t.deepEqual(audits[1]?.details, {
    changedFields: ['settings.contact', 'settings.timezone'],
    before: { settings: { contact: { phone: '1' }, timezone: 'Europe/Vienna' } },
    after: { settings: { contact: { phone: '2' }, timezone: null } },
  });
});

test('two changes of the settings at once both stay', async (t) => {
  const { partner } = await tenant(platform);
  const { token } = partner;
  const parts = [
    { timeFormat: '24h' },
    { language: 'en' },
    { dateFormat: 'YYYY-MM-DD' },
    { agents: { tokenRotationDays: 7 } },
  ];
  await Promise.all(
    parts.map((settings) => platform.call('PATCH', '/orgs/partners/me', { token, body: { settings } })),
  );
  const { body } = await platform.call<Partner>('GET', '/orgs/partners/me', { token });
  t.deepEqual(body.settings, Object.assign({}, ...parts));
});

test('settings outside the list are refused by path', async (t) => {
  const { partner } = await tenant(platform);
  const answer = await platform.call<ErrorBody>('PATCH', '/orgs/partners/me', {
    token: partner.token,
    body: { plan: 'unlimited', settings: { language: 'de', contact: { email: 'no' } } },
  });
  t.is(answer.status, 400);
  t.deepEqual(answer.body.error.details.map((detail) => detail.path).sort(), [
    'plan',
    'settings.contact.email',
    'settings.language',
  ]);
});

test('a user with access to some organizations may not change what concerns them all', async (t) => {
  const { partnerId, partnerRoleId } = await tenant(platform);
  const { token } = await partnerUser(platform, { partnerId, roleId: partnerRoleId, orgAccess: 'selected' });
  const answer = await platform.call<ErrorBody>('PATCH', '/orgs/partners/me', { token, body: { name: 'x' } });
  t.is(answer.status, 403);
  t.is(answer.body.error.message, 'Full partner organization access required');
});
