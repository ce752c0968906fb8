/** Channels: who may see and change them, and that their secrets stay theirs. */
import test from 'ava';
import { organization, orgUser, startTestPlatform } from '#test';
import { codeOf, type Ground, openTenant, receiver, type Shown } from './ground.ts';

const platform = await startTestPlatform({
  OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8',
  OUTBOUND_ALLOW_HTTP: 'true',
  LOG_LEVEL: 'fatal',
});
const server = await receiver();
test.after.always(async () => {
  await platform.stop();
  await server.close();
});

const MAIL = { to: ['ops@example.com'] };
const secretsOf = async (id: string) =>
  (await platform.sql<{ secrets: Record<string, string> }>('select secrets from alert_channels where id = $1', [id]))[0]
    ?.secrets ?? {};
const hook = (at: Ground, more: object = {}) =>
  at.channel('webhook', { url: server.url, headers: [{ key: 'Authorization', value: 'Bearer 123' }], ...more });

test.serial('each kind is made by its own configuration, and what does not fit is named', async (t) => {
  const at = await openTenant(platform);
  for (const [type, config] of [
    ['email', MAIL],
    ['teams', { webhookUrl: server.url }],
    ['webhook', { url: server.url }],
    ['pagerduty', { routingKey: 'R'.repeat(32) }],
    ['sms', { numbers: ['+4366412345678'] }],
  ] as const) {
    const made = await at.channel(type, config);
    t.like(made, {
      type,
      enabled: true,
      health: 'ok',
      minSeverity: 'low',
      throttleMax: 30,
      throttleWindowSeconds: 3600,
    });
  }
  const refused = async (type: string, config: object) => {
    const answer = await at.call<{ error: { code: string; details: { path?: string }[] } }>('POST', '', {
      name: 'x',
      type,
      config,
    });
    return [answer.status, answer.body.error.code, answer.body.error.details[0]?.path];
  };
  t.deepEqual(await refused('fax', {}), [400, 'UNKNOWN_CHANNEL_TYPE', 'type']);
  t.deepEqual(await refused('email', { to: [] }), [400, 'VALIDATION_ERROR', 'config.to']);
  t.deepEqual(await refused('email', { ...MAIL, cc: [] }), [400, 'VALIDATION_ERROR', 'config.cc']);
  t.deepEqual(await refused('sms', { numbers: ['0664'] }), [400, 'VALIDATION_ERROR', 'config.numbers.0']);
  t.deepEqual(await refused('slack', { webhookUrl: server.url }), [400, 'VALIDATION_ERROR', 'config.webhookUrl']);
  t.deepEqual(await refused('teams', { webhookUrl: 'https://10.1.2.3/x' }), [400, 'URL_BLOCKED', 'config.webhookUrl']);
});

test.serial('secrets are sealed, shown masked, and a made one once', async (t) => {
  const at = await openTenant(platform);
  const made = await hook(at);
  const secret = made.made?.secret ?? '';
  t.regex(secret, /^whsec_/);
  t.is(made.config.secret, `****${secret.slice(-4)}`);
  t.deepEqual(made.config.headers, [{ key: 'Authorization', value: '****' }]);
  const read = await at.read(made.id);
  t.deepEqual(read.config, made.config);
  t.false('made' in read);
  const stored = JSON.stringify(await platform.sql('select * from alert_channels where id = $1', [made.id]));
  t.false(stored.includes(secret) || stored.includes('Bearer 123'));
  t.deepEqual(Object.keys(await secretsOf(made.id)).sort(), ['headers', 'secret']);
  // A seal says which row it belongs to.
  const { id } = await hook(at);
  await platform.sql('update alert_channels set secrets = $2 where id = $1', [id, await secretsOf(made.id)]);
  const unreadable = await at.call('PATCH', `/${id}`, { config: { method: 'PUT' } });
  t.deepEqual([unreadable.status, codeOf(unreadable)], [503, 'SECRET_UNREADABLE']);
});

test.serial('a change keeps what is left out, clears what is null, and refuses a mask', async (t) => {
  const at = await openTenant(platform);
  const { id, config } = await hook(at);
  const before = await secretsOf(id);
  const patched = await at.call('PATCH', `/${id}`, { config: { method: 'PUT' }, name: 'Night', minSeverity: 'high' });
  t.like(patched.body.data, { name: 'Night', minSeverity: 'high', config: { ...config, method: 'PUT' } });
  t.deepEqual(Object.keys(await secretsOf(id)).sort(), Object.keys(before).sort());
  const cleared = await at.call('PATCH', `/${id}`, { config: { headers: null } });
  t.deepEqual(cleared.body.data.config.headers, []);
  t.is(codeOf(await at.call('PATCH', `/${id}`, { config: { secret: config.secret } })), 'VALIDATION_ERROR');
  t.is(codeOf(await at.call('PATCH', `/${id}`, { config: { url: null } })), 'VALIDATION_ERROR');
  t.is(codeOf(await at.call('PATCH', `/${id}`, {})), 'NO_UPDATES');
  t.is((await at.call('PATCH', `/${id}`, { type: 'email' })).status, 400);
  const entries = await platform.audits({ action: 'notification_channel.update', orgId: at.orgId });
  t.is(entries.length, 2);
  t.false(JSON.stringify(entries).includes('Bearer'));
});

test.serial('another destination wants the secrets again', async (t) => {
  const at = await openTenant(platform);
  const { id } = await hook(at);
  const elsewhere = `${server.url}/elsewhere`;
  const moved = (config: object) => at.call('PATCH', `/${id}`, { config: { url: elsewhere, ...config } });
  const secret = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
  t.is(codeOf(await moved({})), 'CREDENTIALS_REQUIRED');
  t.is(codeOf(await moved({ secret })), 'CREDENTIALS_REQUIRED');
  t.is((await at.read(id)).config.url, server.url);
  t.is((await at.call('PATCH', `/${id}`, { config: { url: server.url } })).status, 200);
  t.is((await moved({ secret, headers: [] })).status, 200);
});

test.serial(
  'what belongs to a partner its organizations see and do not change, and strangers do neither',
  async (t) => {
    const at = await openTenant(platform);
    const elsewhere = await openTenant(platform);
    const other = await organization(platform, at.partnerId);
    const neighbour = await orgUser(platform, { orgId: other.orgId });
    const own = await at.channel('email', MAIL);
    const shared = (
      await at.call('POST', '', { name: 'All', type: 'email', config: MAIL, partnerId: at.partnerId }, at.partner)
    ).body.data;
    const list = async (person: typeof neighbour) =>
      (await at.call<{ data: Shown[] }>('GET', '', undefined, person)).body.data.map(({ id }) => id).sort();
    t.deepEqual(await list(at.orgAdmin), [own.id, shared.id].sort());
    t.deepEqual(await list(neighbour), [shared.id]);
    t.deepEqual(await list(elsewhere.partner), []);
    t.is((await at.call('PATCH', `/${shared.id}`, { name: 'Mine' })).status, 403);
    t.is((await at.call('DELETE', `/${shared.id}`)).status, 403);
    t.is((await at.call('POST', `/${shared.id}/test`)).status, 403);
    for (const person of [neighbour, elsewhere.orgAdmin, elsewhere.partner]) {
      for (const [method, body] of [['GET'], ['PATCH', { name: 'Mine' }], ['DELETE']] as const) {
        t.is((await at.call(method, `/${own.id}`, body, person)).status, 404);
      }
      t.is((await at.call('POST', `/${own.id}/test`, undefined, person)).status, 404);
    }
    t.is((await at.call('POST', '', { name: 'x', type: 'email', config: MAIL }, at.viewer)).status, 403);
    const limited = await orgUser(platform, { orgId: at.orgId, siteIds: [at.siteId] });
    t.is(codeOf(await at.call('PATCH', `/${own.id}`, { name: 'x' }, limited)), 'TARGET_OUT_OF_SCOPE');
  },
);

test.serial('a test sends at once and says what the other side answered, five times a minute', async (t) => {
  const at = await openTenant(platform);
  const { id } = await hook(at, { url: server.url });
  const tested = () => at.call<{ data: Record<string, unknown> }>('POST', `/${id}/test`);
  server.received = [];
  const good = await tested();
  t.is(good.status, 200);
  t.like(good.body.data, { success: true, status: 200, providerStatus: 200, providerMessage: 'ok' });
  t.is(server.received[0]?.body.type, 'alert.test');
  server.answer = { status: 500, headers: {}, text: 'out of order' };
  t.like((await tested()).body.data, {
    success: false,
    status: 500,
    providerMessage: 'out of order',
    error: 'out of order',
  });
  server.answer = { status: 200, headers: {}, text: 'ok' };
  for (let n = 0; n < 3; n += 1) t.is((await tested()).status, 200);
  t.is((await tested()).status, 429);
  t.is((await platform.audits({ action: 'notification_channel.test', orgId: at.orgId })).length, 5);
});

test.serial('a channel is removed, with an entry', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.channel('email', MAIL);
  t.deepEqual((await at.call<object>('DELETE', `/${id}`)).body, { success: true });
  t.is((await at.call('GET', `/${id}`)).status, 404);
  t.is((await platform.audits({ action: 'notification_channel.delete', orgId: at.orgId })).length, 1);
});
