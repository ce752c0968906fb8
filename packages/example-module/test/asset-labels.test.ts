/** Asset labels on a whole platform: real HTTP, a real database, the real queue run step by step. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  enrollAgent,
  enrollmentKey,
  orgUser,
  startTestPlatform,
  type Tenant,
  tenant,
} from '@quartermaster/module-kit/test';

const platform = await startTestPlatform();
after(() => platform.stop());

interface Label {
  id: string;
  deviceId: string;
  label: string;
}
interface Answer {
  data: Label;
  error: { code: string };
}
const call = <B = Answer>(method: string, path: string, token: string, body?: object) =>
  platform.call<B>(method, `/acme-asset-labels${path}`, { token, ...(body ? { body } : {}) });
const labels = async (token: string) =>
  (await call<{ data: Label[] }>('GET', '', token)).body.data.map(({ label }) => label);
const enroll = async (at: Tenant, hostname: string) =>
  (
    await enrollAgent(platform, {
      key: await enrollmentKey(platform, { orgId: at.orgId, siteId: at.siteId }),
      hostname,
    })
  ).deviceId;

test('a label is given, changed and taken away, and each leaves an audit entry', async () => {
  const mine = await tenant(platform);
  const { token } = mine.orgAdmin;
  const deviceId = await enroll(mine, 'one');
  const made = await call('POST', '', token, { deviceId, label: ' X 1 ' });
  assert.equal(made.status, 201);
  assert.equal(made.body.data.label, 'X 1');
  const { id } = made.body.data;
  assert.equal((await call('POST', '', token, { deviceId })).body.error.code, 'DEVICE_HAS_LABEL');
  const other = await call('POST', '', token, { deviceId: await enroll(mine, 'two') });
  assert.equal(other.body.data.label, 'A-00001', 'the next number');
  assert.equal((await call('PATCH', `/${id}`, token, { label: 'A-00001' })).body.error.code, 'LABEL_TAKEN');
  assert.equal((await call('PATCH', `/${id}`, token, { label: 'X 2' })).body.data.label, 'X 2');
  assert.deepEqual(await labels(token), ['A-00001', 'X 2']);
  assert.equal((await call('DELETE', `/${id}`, token)).status, 200);
  const actions = (await platform.audits({ orgId: mine.orgId })).map(({ action }) => action);
  assert.deepEqual(
    actions.filter((action) => action.startsWith('acme-asset-labels.')).map((action) => action.split('.').at(-1)),
    ['create', 'create', 'update', 'delete'],
  );
});

test('another tenant reaches nothing of it', async () => {
  const [mine, theirs] = [await tenant(platform), await tenant(platform)];
  const deviceId = await enroll(theirs, 'theirs');
  const { id } = (await call('POST', '', theirs.orgAdmin.token, { deviceId })).body.data;
  const { token } = mine.orgAdmin;
  assert.deepEqual(await labels(token), []);
  for (const [method, body] of [['GET'], ['PATCH', { label: 'mine' }], ['DELETE']] as const) {
    assert.equal((await call(method, `/${id}`, token, body)).status, 404);
  }
  assert.equal((await call('POST', '', token, { deviceId })).status, 404);
  assert.equal((await call('POST', '/assign', token, { orgId: theirs.orgId })).status, 403);
  assert.equal((await call('POST', '', mine.viewer.token, { deviceId })).status, 403);
  assert.deepEqual(await labels(theirs.orgAdmin.token), ['A-00001']);
});

test('the job gives each device without a label the next number, once', async () => {
  const mine = await tenant(platform);
  const { token } = mine.orgAdmin;
  const named = await enroll(mine, 'named');
  await call('POST', '', token, { deviceId: named, label: 'A-00001' });
  await enroll(mine, 'a');
  await enroll(mine, 'b');
  for (let times = 0; times < 2; times += 1) {
    assert.equal((await call('POST', '/assign', token, {})).status, 202);
    await platform.runJobs();
  }
  assert.deepEqual(await labels(token), ['A-00001', 'A-00002', 'A-00003']);
  const limited = await orgUser(platform, { orgId: mine.orgId, siteIds: [mine.siteId] });
  assert.equal((await call('POST', '/assign', limited.token, {})).body.error.code, 'TARGET_OUT_OF_SCOPE');
});

test('devices get one as they enroll where the settings say so, and search finds them by it', async () => {
  const mine = await tenant(platform);
  await enroll(mine, 'before');
  await platform.runJobs();
  const settings = { 'acme-asset-labels': { automatic: true, prefix: 'QM', digits: 3 } };
  await platform.sql('update organizations set settings = settings || $2 where id = $1', [mine.orgId, settings]);
  await enroll(mine, 'later');
  await platform.runJobs();
  assert.deepEqual(await labels(mine.orgAdmin.token), ['QM001']);
  const found = await platform.call<{ results: { title: string; description: string }[] }>('GET', '/search?q=qm0', {
    token: mine.orgAdmin.token,
  });
  assert.deepEqual(
    found.body.results.map(({ title, description }) => [title, description]),
    [['QM001', 'later']],
  );
});
