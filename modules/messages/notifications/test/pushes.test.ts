/** Browsers that take push messages: subscribing, messages that only they can read, and what ends a subscription. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import webPush from 'web-push';
import { type ErrorBody, type Person, startTestPlatform } from '#test';
import { hurry, openTenant } from './ground.ts';
import { browser, pushService } from './post-offices.ts';

const office = await pushService();
const platform = await startTestPlatform({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', OUTBOUND_ALLOW_HTTP: 'true' });
test.after.always(async () => {
  await platform.stop();
  await office.close();
});
test.beforeEach(() => {
  office.pushed = [];
  office.answer = () => ({ status: 201 });
});

const OUTAGE = { offline: 9, of: 10 };
const call = <B = { data: { id: string } }>(person: Person, method: string, path: string, body?: object) =>
  platform.call<B>(method, `/notifications${path}`, { token: person.token, ...(body ? { body } : {}) });
async function subscribed(person: Person, path = `/${randomUUID()}`) {
  const made = browser(`${office.url}${path}`);
  const { status, body } = await call(person, 'POST', '/push-subscriptions', made.body);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`);
  return { ...made, id: body.data.id, path };
}
const listOf = async (person: Person) =>
  (
    await call<{ data: { id: string; host: string; lastUsedAt: string | null }[] }>(
      person,
      'GET',
      '/push-subscriptions',
    )
  ).body.data;

test.serial(
  'a notice of high priority reaches every browser, encrypted and signed with the key that browsers were given',
  async (t) => {
    const at = await openTenant(platform);
    const [one, two] = [await subscribed(at.orgAdmin), await subscribed(at.orgAdmin)];
    await at.tell('devices.outage', OUTAGE);
    t.deepEqual(office.pushed.map(({ path }) => path).sort(), [one.path, two.path].sort());
    const message = office.pushed.find(({ path }) => path === one.path);
    t.like(one.read(message?.body ?? Buffer.alloc(0)), {
      type: 'device',
      priority: 'urgent',
      title: '9 of 10 devices went silent',
    });
    t.throws(() => two.read(message?.body ?? Buffer.alloc(0)));
    t.like(message?.headers, { urgency: 'high', ttl: '86400', 'content-encoding': 'aes128gcm' });
    t.true((message?.body.length ?? 5000) < 4096);
    const { publicKey } = (await call<{ data: { publicKey: string } }>(at.viewer, 'GET', '/push-key')).body.data;
    t.true(message?.headers.authorization?.includes(`k=${publicKey}`));
    t.notThrows(() => webPush.setVapidDetails('mailto:a@b.c', publicKey, Buffer.alloc(32, 1).toString('base64url')));
    t.like(
      (await at.deliveries(at.orgAdmin)).find(({ kind }) => kind === 'push'),
      {
        status: 'sent',
        provider_message_id: `https://push.example/m${[one, two].sort((a, b) => (a.id < b.id ? -1 : 1))[0]?.path}`,
      },
    );
    t.truthy((await listOf(at.orgAdmin))[0]?.lastUsedAt);
  },
);

test.serial('nothing is pushed below the priority that somebody wants, nor to who has no browser', async (t) => {
  const at = await openTenant(platform);
  await subscribed(at.orgAdmin);
  const deviceId = await at.device();
  await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId });
  t.is(office.pushed.length, 0);
  await at.prefer(at.orgAdmin, { type: 'device', push: true, pushFrom: 'low' });
  await at.tell('devices.main_agent_silent', { hostname: 'pc' }, { deviceId: await at.device() });
  t.is(office.pushed.length, 1);
  await at.prefer(at.orgAdmin, { type: 'device', push: false });
  await at.tell('devices.outage', OUTAGE);
  t.is(office.pushed.length, 1);
  t.false((await at.deliveries(at.viewer)).some(({ kind }) => kind === 'push'));
});

test.serial('a browser that is gone is forgotten, and the others still have the notice', async (t) => {
  const at = await openTenant(platform);
  const [gone, missing, there] = [
    await subscribed(at.orgAdmin),
    await subscribed(at.orgAdmin),
    await subscribed(at.orgAdmin),
  ];
  office.answer = (path) => ({ status: path === gone.path ? 410 : path === missing.path ? 404 : 201 });
  await at.tell('devices.outage', OUTAGE);
  t.deepEqual(
    (await listOf(at.orgAdmin)).map(({ id }) => id),
    [there.id],
  );
  t.is((await at.deliveries(at.orgAdmin)).find(({ kind }) => kind === 'push')?.status, 'sent');
  office.answer = () => ({ status: 410 });
  await platform.call('PATCH', '/notifications/read', { token: at.orgAdmin.token, body: { all: true } });
  await at.tell('devices.outage', OUTAGE);
  t.deepEqual(await listOf(at.orgAdmin), []);
  const last = (await at.deliveries(at.orgAdmin)).filter(({ kind }) => kind === 'push').at(-1);
  t.like(last, { status: 'failed', attempts: 1, error: 'the push service answered 410' });
});

test.serial(
  'a push service that is busy says when to come again, and only the browsers not reached are tried then',
  async (t) => {
    const at = await openTenant(platform);
    const [busy, there] = [await subscribed(at.orgAdmin), await subscribed(at.orgAdmin)];
    office.answer = (path) =>
      path === busy.path ? { status: 429, headers: { 'retry-after': '3000' } } : { status: 201 };
    await at.tell('devices.outage', OUTAGE);
    const [waiting] = (await at.deliveries(at.orgAdmin)).filter(({ kind }) => kind === 'push');
    t.like(waiting, { status: 'pending', attempts: 1, error: 'the push service answered 429' });
    t.deepEqual(waiting?.targets, [busy.id]);
    t.true((waiting?.next_attempt_at.getTime() ?? 0) > Date.now() + 2_000_000);
    office.answer = () => ({ status: 201 });
    await hurry(platform, at.orgAdmin);
    t.deepEqual(office.pushed.map(({ path }) => path).sort(), [busy.path, busy.path, there.path].sort());
    t.is((await at.deliveries(at.orgAdmin)).find(({ kind }) => kind === 'push')?.status, 'sent');
  },
);

test.serial('a browser belongs to whoever is signed in there last, and its secrets are shown to nobody', async (t) => {
  const at = await openTenant(platform);
  const { path, body } = await subscribed(at.orgAdmin);
  await call(at.orgAdmin, 'POST', '/push-subscriptions', body);
  t.is((await listOf(at.orgAdmin)).length, 1);
  const { id } = await subscribed(at.viewer, path);
  t.deepEqual(await listOf(at.orgAdmin), []);
  t.deepEqual(Object.keys((await listOf(at.viewer))[0] ?? {}).sort(), [
    ...['createdAt', 'host', 'id', 'lastUsedAt', 'userAgent'],
  ]);
  const [row] = await platform.sql<{ sealed: string }>('select sealed from push_subscriptions where id = $1', [id]);
  t.false(row?.sealed.includes(path));
  t.is((await call(at.orgAdmin, 'DELETE', `/push-subscriptions/${id}`)).status, 404);
  t.is((await call(at.viewer, 'DELETE', `/push-subscriptions/${id}`)).status, 200);
  t.is((await call(at.viewer, 'DELETE', `/push-subscriptions/${id}`)).status, 404);
  const actions = (await platform.audits({ orgId: at.orgId })).map(({ action }) => action);
  t.is(actions.filter((action) => action === 'notification.push.subscribe').length, 3);
  t.is(actions.filter((action) => action === 'notification.push.unsubscribe').length, 1);
});

test.serial('what is no subscription, or leads into the installation’s network, is refused', async (t) => {
  const at = await openTenant(platform);
  const { body } = browser(`${office.url}/x`);
  const refused = async (change: object) => {
    const answer = await call<ErrorBody>(at.orgAdmin, 'POST', '/push-subscriptions', { ...body, ...change });
    return [answer.status, answer.body.error.code];
  };
  t.deepEqual(await refused({ endpoint: 'https://10.0.0.1/push' }), [400, 'URL_BLOCKED']);
  t.deepEqual(await refused({ endpoint: 'https://169.254.169.254/latest' }), [400, 'URL_BLOCKED']);
  t.deepEqual(await refused({ keys: { ...body.keys, auth: 'short' } }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await refused({ keys: { auth: body.keys.auth } }), [400, 'VALIDATION_ERROR']);
  for (let n = 0; n < 20; n += 1) await subscribed(at.orgAdmin);
  t.deepEqual(await refused({ endpoint: `${office.url}/more` }), [409, 'PUSH_SUBSCRIPTION_LIMIT_REACHED']);
});
