/** Enrollment through the API. */
import test from 'ava';
import {
  type ErrorBody,
  enrollAgent,
  enrollmentBody,
  enrollmentKey,
  type FakeEnrolled,
  sharedPlatform,
  tenant,
} from '#test';

// Each machine enrolls from an address of its own, except where a test is about the limit by address.
const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());

let host = 0;
function nextAddress(): string {
  host += 1;
  return `198.51.${Math.floor(host / 250)}.${host % 250}`;
}
const from = (ip = nextAddress()) => ({ 'x-forwarded-for': ip });
const enroll = <B>(key: string, change: object = {}, headers: Record<string, string> = {}) =>
  platform.call<B>('POST', '/agents/enroll', { body: enrollmentBody(key, change), headers: { ...from(), ...headers } });
const reasonOf = ({ body }: { body: ErrorBody }) => (body.error.details[0] as { reason?: string } | undefined)?.reason;

test('a machine enrolls with a key and gets an identity, three tokens and its configuration', async (t) => {
  const { orgId, siteId, partner } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId });
  const { status, body } = await enroll<FakeEnrolled>(key, {
    hostname: 'srv-1',
    architecture: 'amd64',
    deviceRole: 'server',
    virtualizationPlatform: 'quantum',
    hardwareInfo: { serialNumber: 'S-1', motherboardSerial: 'B-1', cpuCores: 4, ramTotalMb: 8192 },
    networkInfo: [{ name: 'eth0', mac: '02:00:00:00:00:01', ip: '10.0.0.5', isPrimary: true }],
    machineId: 'm-1',
    fromTheFuture: true,
  });
  t.is(status, 201);
  t.deepEqual(Object.keys(body).sort(), [
    'agentId',
    'authToken',
    'config',
    'deviceId',
    'manifestTrustKeys',
    'orgId',
    'siteId',
    'watchdogAuthToken',
  ]);
  t.like(body, { orgId, siteId, config: { heartbeatIntervalSeconds: 60, metricsCollectionIntervalSeconds: 30 } });
  t.is(new Set([body.authToken, body.watchdogAuthToken]).size, 2);
  const [device] = await platform.sql('select * from devices where id = $1', [body.deviceId]);
  t.like(device, { hostname: 'srv-1', architecture: 'x64', device_role: 'server', lifecycle: 'active' });
  const [used] = await platform.sql('select usage_count, created_by from enrollment_keys where org_id = $1', [orgId]);
  t.is(used?.usage_count, 1);
  const detail = await platform.call<{ data: object }>('GET', `/devices/${body.deviceId}`, { token: partner.token });
  t.like(detail.body.data, { enrolledBy: used?.created_by });
  const stored = JSON.stringify(
    await platform.sql('select * from agent_credentials where device_id = $1', [body.deviceId]),
  );
  t.false(stored.includes(body.authToken.slice(4)), 'only hashes are stored');
  const [audit] = await platform.audits({ orgId, action: 'device.create' });
  t.like(audit, { actor_type: 'agent', resource_id: body.deviceId });
  t.is(audit?.details.via, 'enrollment_key');
});

test('the error for a wrong key has no reason, the one for a real expired key has one', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const wrong = await enroll<ErrorBody>('0'.repeat(64));
  t.is(wrong.status, 401);
  t.is(wrong.body.error.code, 'ENROLLMENT_FAILED');
  t.deepEqual(wrong.body.error.details, []);
  const expired = await enroll<ErrorBody>(
    await enrollmentKey(platform, { orgId, siteId, expiresAt: new Date(Date.now() - 1000) }),
  );
  t.is(reasonOf(expired), 'expired');
  t.is(expired.body.error.message, wrong.body.error.message);
  const once = await enrollmentKey(platform, { orgId, siteId, maxUsage: 1 });
  t.is((await enroll(once)).status, 201);
  t.is(reasonOf(await enroll<ErrorBody>(once)), 'exhausted');
  const failures = (await platform.audits({ orgId, action: 'device.create' })).filter(
    (row) => row.result === 'failure',
  );
  t.deepEqual(
    failures.map((row) => row.details.reason),
    ['expired', 'exhausted'],
  );
});

test('a hundred concurrent enrollments with a key for ten make exactly ten devices', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId, maxUsage: 10 });
  const answers = await Promise.all(Array.from({ length: 100 }, () => enroll(key)));
  t.is(answers.filter(({ status }) => status === 201).length, 10);
  t.is(answers.filter(({ status }) => status === 401).length, 90);
  const [row] = await platform.sql(
    `select (select count(*)::int from devices where org_id = $1) as devices,
       (select usage_count from enrollment_keys where org_id = $1) as used,
       (select count(*)::int from agent_credentials where org_id = $1) as tokens`,
    [orgId],
  );
  t.deepEqual(row, { devices: 10, used: 10, tokens: 20 });
});

test('a key without a site uses the default site, else the only one, else SITE_REQUIRED', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId });
  t.is((await enroll<FakeEnrolled>(key)).body.siteId, siteId);
  const [other] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Second') returning id`,
    [orgId],
  );
  const unclear = await enroll<ErrorBody>(key);
  t.is(unclear.status, 400);
  t.is(unclear.body.error.code, 'SITE_REQUIRED');
  await platform.sql(
    `update organizations set settings = jsonb_build_object('defaultSiteId', $2::text) where id = $1`,
    [orgId, other?.id],
  );
  t.is((await enroll<FakeEnrolled>(key)).body.siteId, other?.id ?? '');
});

test('no machine enrolls in a suspended organization, or one of a suspended partner', async (t) => {
  const { orgId, siteId, partnerId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId });
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [orgId]);
  const refused = await enroll<ErrorBody>(key);
  t.is(refused.status, 403);
  t.is(refused.body.error.code, 'TENANT_INACTIVE');
  await platform.sql(`update organizations set status = 'active' where id = $1`, [orgId]);
  await platform.sql(`update partners set status = 'suspended' where id = $1`, [partnerId]);
  t.is((await enroll<ErrorBody>(key)).body.error.code, 'TENANT_INACTIVE');
});

test('a machine with its old token gets its device back, and its old tokens end', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId });
  const old = await enrollAgent(platform, { key, headers: from() });
  t.is((await old.heartbeat()).status, 200);
  const again = await enroll<FakeEnrolled>(key, {}, { 'x-agent-reenrollment-token': old.token });
  t.is(again.status, 201);
  t.is(again.body.deviceId, old.deviceId);
  const { agentId, authToken } = again.body;
  const beat = (token: string, id: string) => platform.call('POST', `/agents/${id}/heartbeat`, { token, body: {} });
  t.is((await beat(authToken, agentId)).status, 200);
  t.is((await beat(old.token, old.agentId)).status, 401);
});

test('an old token of another organization has no effect', async (t) => {
  const [here, there] = await Promise.all([tenant(platform), tenant(platform)]);
  const old = await enrollAgent(platform, { key: await enrollmentKey(platform, there), headers: from() });
  const made = await enroll<FakeEnrolled>(
    await enrollmentKey(platform, here),
    {},
    { 'x-agent-reenrollment-token': old.token },
  );
  t.is(made.status, 201);
  t.not(made.body.deviceId, old.deviceId);
  t.is((await old.heartbeat()).status, 200);
});

test('a new enrollment does not lift the suspension of a token or the quarantine of a device', async (t) => {
  const { orgId, siteId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId });
  const [suspended, quarantined] = await Promise.all([
    enrollAgent(platform, { key, headers: from() }),
    enrollAgent(platform, { key, headers: from() }),
  ]);
  await platform.sql('update agent_credentials set suspended_at = now() where device_id = $1', [suspended.deviceId]);
  const first = await enroll<ErrorBody>(key, {}, { 'x-agent-reenrollment-token': suspended.token });
  t.is(first.status, 409);
  await platform.sql(`update devices set lifecycle = 'quarantined', quarantined_at = now() where id = $1`, [
    quarantined.deviceId,
  ]);
  const second = await enroll<ErrorBody>(key, {}, { 'x-agent-reenrollment-token': quarantined.token });
  t.is(second.status, 403);
  t.is(second.body.error.code, 'DEVICE_QUARANTINED');
});

test('an invalid body names every error, and ten wrong keys block an address', async (t) => {
  const bad = await enroll<ErrorBody>('zz', { osType: 'beos', hostname: '' });
  t.is(bad.status, 400);
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), ['enrollmentKey', 'hostname', 'osType']);
  const guess = () => enroll('0'.repeat(63) + Math.floor(Math.random() * 10), {}, from('203.0.113.9'));
  const statuses: number[] = [];
  for (let attempt = 0; attempt < 11; attempt += 1) statuses.push((await guess()).status);
  t.deepEqual(statuses, [...Array(10).fill(401), 429]);
  const { orgId, siteId } = await tenant(platform);
  const key = await enrollmentKey(platform, { orgId, siteId });
  t.is((await enroll(key, {}, from('203.0.113.9'))).status, 429, 'a valid key is limited too');
  const wrong = (n: number) => enroll('0'.repeat(64), {}, from(`2001:db8:9:9:${n}::1`));
  for (let n = 0; n < 10; n += 1) t.is((await wrong(n)).status, 401);
  t.is((await wrong(10)).status, 429, 'an IPv6 network counts as one address');
  t.is((await enroll(key, {}, from('203.0.113.10'))).status, 201);
});

test('devices that are new with a key have its tags, in their stored form; one that comes again keeps its own', async (t) => {
  const at = await tenant(platform);
  const { token } = at.orgAdmin;
  const create = (tags: string[]) =>
    platform.call<{ key: string; tags: string[] } & ErrorBody>('POST', '/enrollment-keys', {
      token,
      body: { name: 'Tagged', siteId: at.siteId, maxUsage: 3, tags },
    });
  const made = await create(['  Branch   Office', 'tills', 'TILLS']);
  t.is(made.status, 201, JSON.stringify(made.body));
  t.deepEqual(made.body.tags, ['branch office', 'tills']);
  const [entry] = await platform.audits({ action: 'enrollment_key.create', orgId: at.orgId });
  t.deepEqual(entry?.details.tags, ['branch office', 'tills']);
  const tagsOf = async (deviceId: string) =>
    (await platform.call<{ data: { tags: string[] } }>('GET', `/devices/${deviceId}`, { token })).body.data.tags;
  const agent = await enrollAgent(platform, { key: made.body.key });
  t.deepEqual(await tagsOf(agent.deviceId), ['branch office', 'tills']);
  await platform.call('PATCH', `/devices/${agent.deviceId}`, { token, body: { tags: ['mine'] } });
  const again = await enrollAgent(platform, {
    key: made.body.key,
    headers: { 'x-agent-reenrollment-token': agent.token },
  });
  t.is(again.deviceId, agent.deviceId);
  t.deepEqual(await tagsOf(agent.deviceId), ['mine']);
  for (const [tags, path] of [
    [['ok', 'a,b'], 'tags.1'],
    [['sys:ours'], 'tags.0'],
    [Array.from({ length: 21 }, (_, n) => `t${n}`), 'tags'],
  ] as const) {
    const refused = await create([...tags]);
    t.is(refused.status, 400);
    t.is((refused.body.error.details as { path: string }[])[0]?.path, path);
  }
});
