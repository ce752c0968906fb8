/** Samples of agents, and values that scripts write into custom fields. */
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, sharedPlatform, tenant } from '#test';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const newAgent = async () => {
  const at = await tenant(platform);
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
type New = Awaited<ReturnType<typeof newAgent>>;
interface Read {
  data: { parts: { kind: string; source: string | null; body: Record<string, unknown> }[] };
}
const read = ({ agent, orgAdmin }: New, kind: string, token = orgAdmin.token) =>
  platform.call<Read>('GET', `/devices/${agent.deviceId}/reports?kind=${kind}`, { token });
const put = ({ agent }: New, path: string, body: object, token?: string) =>
  agent.call<{ changed: boolean } & ErrorBody>('PUT', path, body, token);
const patch = (externalId: string, source: string) => ({ externalId, source, title: `About ${externalId}` });

test('patches are stored by source: a source that was not scanned keeps its patches', async (t) => {
  const at = await newAgent();
  const first = await put(at, 'patches', {
    coveredSources: ['linux', 'third_party'],
    pending: [patch('openssl@3', 'linux'), patch('vlc', 'third_party')],
    installed: [patch('zlib@1', 'linux')],
    rebootPending: true,
  });
  t.deepEqual([first.status, first.body], [200, { changed: true }] as never);
  const second = await put(at, 'patches', {
    coveredSources: ['linux'],
    pending: [patch('curl@8', 'linux'), patch('vlc 4', 'third_party')],
  });
  t.true(second.body.changed);
  const { parts } = (await read(at, 'patches')).body.data;
  t.deepEqual(
    parts.map(({ source, body }) => [source, (body.pending as { externalId: string }[]).map((one) => one.externalId)]),
    [
      ['linux', ['curl@8']],
      ['third_party', ['vlc']],
    ],
  );
});

test('a report with a known hash, a truncated one and an empty one replace nothing', async (t) => {
  const at = await newAgent();
  const processes = [{ pid: 1, name: 'init\0', cpuPercent: 0.5 }];
  t.true((await put(at, 'processes', { snapshotHash: 'a', processes })).body.changed);
  t.false((await put(at, 'processes', { snapshotHash: 'a', processes })).body.changed);
  t.false((await put(at, 'processes', { snapshotHash: 'b', processes: [] })).body.changed);
  t.false((await put(at, 'processes', { processes: [{ pid: 2, name: 'half' }], complete: false })).body.changed);
  t.like((await read(at, 'processes')).body.data.parts[0]?.body, { processes: [{ pid: 1, name: 'init' }] });
  t.true((await put(at, 'processes', { processes: [], complete: true })).body.changed);
  t.deepEqual((await read(at, 'processes')).body.data.parts[0]?.body, { processes: [] });
});

test('security, sessions and connections are stored as reported, without defaults for missing fields', async (t) => {
  const at = await newAgent();
  await put(at, 'security/status', { realTimeProtection: null, encryptionStatus: 'partial', unheardOf: 1 });
  await put(at, 'sessions', { sessions: [{ username: 'ada', type: 'console' }] });
  await put(at, 'connections', { connections: [{ protocol: 'tcp', localPort: 22, remoteAddress: 'nowhere' }] });
  t.deepEqual((await read(at, 'security')).body.data.parts[0]?.body, {
    realTimeProtection: null,
    encryptionStatus: 'partial',
  });
  t.deepEqual((await read(at, 'sessions')).body.data.parts[0]?.body, {
    sessions: [{ username: 'ada', type: 'console' }],
  });
  t.deepEqual((await read(at, 'connections')).body.data.parts[0]?.body, {
    connections: [{ protocol: 'tcp', localPort: 22, remoteAddress: null }],
  });
});

test('invalid reports, and those of other roles and inactive tenants, are rejected', async (t) => {
  const [at, stranger] = await Promise.all([newAgent(), newAgent()]);
  const many = Array.from({ length: 1_001 }, (_, n) => patch(`p${n}`, 'linux'));
  t.is((await put(at, 'patches', { coveredSources: ['linux'], pending: many, installed: many })).status, 400);
  t.is((await put(at, 'patches', { coveredSources: [] })).status, 400);
  t.is((await put(at, 'sessions', { sessions: [{}] })).status, 400);
  t.is((await put(at, 'processes', { processes: [] }, at.agent.enrolled.watchdogAuthToken)).status, 403);
  t.is((await put(at, 'processes', { processes: [] }, stranger.agent.token)).status, 401);
  t.is((await read(at, 'sessions')).status, 404, 'nothing was reported');
  await put(at, 'sessions', { sessions: [{ username: 'ada' }] });
  const all = await platform.call<Read>('GET', `/devices/${at.agent.deviceId}/reports`, { token: at.orgAdmin.token });
  t.like(all.body.data.parts, [{ kind: 'sessions', source: null }]);
  t.false('body' in (all.body.data.parts[0] ?? {}));
  t.is((await read(at, 'sessions', stranger.orgAdmin.token)).status, 404);
  t.is((await read(at, 'secrets')).status, 400);
});

test('a script writes the custom fields that are open to scripts, and the answer has an error for each other key', async (t) => {
  const at = await newAgent();
  const { token } = at.partner;
  const define = (fieldKey: string, more: object) =>
    platform.call('POST', '/custom-fields', { token, body: { orgId: at.orgId, name: fieldKey, fieldKey, ...more } });
  await define('bios', { type: 'text', editableBy: 'script' });
  await define('slots', { type: 'number', editableBy: 'both' });
  await define('owner', { type: 'text', editableBy: 'user' });
  const send = (values: object) =>
    at.agent.call<{ updated: string[]; failed: { key: string; code: string }[] }>('PUT', 'custom-fields', { values });
  const { status, body } = await send({ bios: 'F.21\0', slots: '4', owner: 'me', unknown: 1 });
  t.is(status, 200);
  t.deepEqual(body.updated.sort(), ['bios', 'slots']);
  t.deepEqual(body.failed.map(({ key, code }) => [key, code]).sort(), [
    ['owner', 'NOT_EDITABLE'],
    ['unknown', 'UNKNOWN_CUSTOM_FIELD'],
  ]);
  t.deepEqual((await send({ bios: 'F.21' })).body, { updated: [], failed: [] });
  const [row] = await platform.sql('select custom_fields from devices where id = $1', [at.agent.deviceId]);
  t.deepEqual(row?.custom_fields, { bios: 'F.21', slots: 4 });
  const audits = (await platform.audits({ action: 'device.custom_fields.update', orgId: at.orgId })).filter(
    ({ result }) => result === 'success',
  );
  t.is(audits.length, 1);
  t.like(audits[0]?.details, { source: 'script', after: { bios: 'F.21', slots: 4 } });
});
