/** Bookmarks on a whole platform: real HTTP, a real database, the real queue. */
import { join } from 'node:path';
import test from 'ava';
import { enrollAgent, enrollmentKey, orgUser, startTestPlatform, tenant } from '#test';

const platform = await startTestPlatform({}, join(import.meta.dirname, '../../..'));
test.after.always(() => platform.stop());

test('a bookmark is added, listed, found and deleted by its tenant only, with audit entries and an event', async (t) => {
  const [own, other] = [await tenant(platform), await tenant(platform)];
  const { deviceId } = await enrollAgent(platform, { key: await enrollmentKey(platform, own), hostname: 'pc-1' });
  const path = `/devices/${deviceId}/bookmarks`;
  const call = (method: string, to: string, { token } = own.orgAdmin, body?: object) =>
    platform.call<{ id: string; data: { id: string }[]; results: { id: string }[] }>(method, to, {
      token,
      ...(body ? { body } : {}),
    });
  const { status, body } = await call('POST', path, own.orgAdmin, { text: 'New power supply' });
  t.is(status, 201);
  t.deepEqual(
    (await call('GET', path)).body.data.map(({ id }) => id),
    [body.id],
  );
  t.deepEqual(
    (await call('GET', '/search?q=POWER')).body.results.map(({ id }) => id),
    [body.id],
  );
  for (const method of ['GET', 'POST']) {
    t.is((await call(method, path, other.orgAdmin, method === 'POST' ? { text: 'x' } : undefined)).status, 404);
  }
  t.is((await call('DELETE', `${path}/${body.id}`, other.orgAdmin)).status, 404);
  const place = await call('POST', '/orgs/sites', own.orgAdmin, { orgId: own.orgId, name: 'Elsewhere' });
  const limited = await orgUser(platform, { orgId: own.orgId, siteIds: [place.body.id] });
  t.deepEqual((await call('GET', '/search?q=POWER', limited)).body.results, []);
  t.is((await call('DELETE', `${path}/${body.id}`, limited)).status, 404, 'a bookmark of a device in another site');
  t.is((await call('DELETE', `${path}/${body.id}`)).status, 200);
  const actions = (await platform.audits({ orgId: own.orgId })).map(({ action }) => action);
  t.deepEqual(
    actions.filter((action) => action.startsWith('bookmark.')),
    ['bookmark.create', 'bookmark.delete'],
  );
  const events = await platform.sql(
    `select data from events
     where name = 'bookmarks.added' and org_id = $1`,
    [own.orgId],
  );
  t.is(events.length, 1);
});
