/** What is left of a removed partner or organization, seen by the system and by those who are left. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type ErrorBody, organization, sharedPlatform, systemUser, tenant } from '#test';

interface Listed {
  data: { id: string }[];
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const message = async (token: string, method: string, path: string, body?: object) => {
  const answer = await platform.call<Partial<ErrorBody>>(method, path, { token, ...(body ? { body } : {}) });
  return answer.body.error ? `${answer.status} ${answer.body.error.message}` : String(answer.status);
};
const listed = async (token: string, path: string) =>
  (await platform.call<Listed>('GET', path, { token })).body.data.map(({ id }) => id);

test('a removed organization is found by nobody, and its rows stay', async (t) => {
  const { orgId, siteId, partnerId, partner } = await tenant(platform);
  const other = await organization(platform, partnerId);
  const system = await systemUser(platform);
  t.is(await message(system.token, 'DELETE', `/orgs/organizations/${orgId}`), '200');
  for (const { token } of [system, partner]) {
    for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as [string, object?][]) {
      t.is(await message(token, method, `/orgs/organizations/${orgId}`, body), '404 Organization not found', method);
      const site = await message(token, method, `/orgs/sites/${siteId}`, body);
      t.is(site, '404 Site not found', method);
    }
    t.deepEqual(await listed(token, `/orgs/organizations?partnerId=${partnerId}`), [other.orgId]);
    t.false((await listed(token, '/orgs/')).includes(orgId));
  }
  t.is(await message(system.token, 'GET', `/orgs/sites?orgId=${orgId}`), '404 Organization not found');
  t.is(await message(system.token, 'POST', '/orgs/sites', { orgId, name: 'x' }), '404 Organization not found');
  t.is(
    await message(partner.token, 'POST', '/orgs/sites', { orgId, name: 'x' }),
    '403 Access to this organization denied',
  );
  const [row] = await platform.sql('select deleted_at = updated_at as noted from organizations where id = $1', [orgId]);
  t.true(row?.noted);
  t.is((await platform.sql('select 1 from sites where id = $1', [siteId])).length, 1, 'sites are not cascaded');
});

test('a removed partner takes what lies below it out of the reach of the system too', async (t) => {
  const { orgId, siteId, partnerId } = await tenant(platform);
  const { token } = await systemUser(platform);
  t.is(await message(token, 'DELETE', `/orgs/partners/${partnerId}`), '200');
  for (const [method, body] of [['GET'], ['PATCH', { name: 'x' }], ['DELETE']] as [string, object?][]) {
    t.is(await message(token, method, `/orgs/partners/${partnerId}`, body), '404 Partner not found', method);
    t.is(await message(token, method, `/orgs/organizations/${orgId}`, body), '404 Organization not found', method);
    t.is(await message(token, method, `/orgs/sites/${siteId}`, body), '404 Site not found', method);
  }
  t.is(
    await message(token, 'POST', '/orgs/organizations', { partnerId, name: 'x', slug: `x-${randomUUID()}` }),
    '404 Partner not found',
  );
  t.deepEqual(await listed(token, `/orgs/organizations?partnerId=${partnerId}`), []);
  t.false((await listed(token, '/orgs/')).includes(orgId));
  t.false((await listed(token, '/orgs/sites?limit=100')).includes(siteId));
  t.false((await listed(token, '/orgs/partners?limit=100')).includes(partnerId));
  const [org] = await platform.sql('select deleted_at from organizations where id = $1', [orgId]);
  t.is(org?.deleted_at, null, 'organizations are not cascaded');
});

test('of two removals at once one finds nothing left', async (t) => {
  const { orgId, partnerId, partner } = await tenant(platform);
  const { token } = await systemUser(platform);
  const twice = (path: string, by: string) => Promise.all([message(by, 'DELETE', path), message(by, 'DELETE', path)]);
  t.deepEqual((await twice(`/orgs/organizations/${orgId}`, partner.token)).sort(), [
    '200',
    '404 Organization not found',
  ]);
  t.deepEqual((await twice(`/orgs/partners/${partnerId}`, token)).sort(), ['200', '404 Partner not found']);
});

test('an organization created while its partner is removed is not made, or goes with it', async (t) => {
  const { token } = await systemUser(platform);
  for (let round = 0; round < 4; round += 1) {
    const { partnerId } = await tenant(platform);
    const body = { partnerId, name: 'x', slug: `x-${randomUUID().slice(0, 8)}` };
    const [made] = await Promise.all([
      message(token, 'POST', '/orgs/organizations', body),
      message(token, 'DELETE', `/orgs/partners/${partnerId}`),
    ]);
    t.regex(made, /^(201|404 Partner not found)$/);
    t.deepEqual(await listed(token, `/orgs/organizations?partnerId=${partnerId}`), []);
  }
});
