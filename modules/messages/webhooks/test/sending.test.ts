/** From an event to the receiver: signed, with what was promised, and only what was asked for. */
import test from 'ava';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { openPlatform, openTenant, receiver, until } from './ground.ts';

const platform = await openPlatform();
const stop = await platform.platform.tasks.startBackground();
test.after.always(async () => {
  await stop();
  await platform.stop();
});

test('an event that a route causes arrives, and both libraries verify it', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  const made = await at.webhook(to.url, ['device.provisioned'], { headers: [{ key: 'X-Token', value: 'let me in' }] });
  const device = await at.call<{ data: { id: string } }>('POST', '/devices/provision', {
    orgId: at.orgId,
    siteId: at.siteId,
    hostname: 'bäcker-1',
    osType: 'linux',
  });
  t.is(device.status, 201);
  await until('it arrives', () => to.got.length === 1);
  const [{ headers, text, body } = t.fail() as never] = to.got;
  t.is(headers['x-token'], 'let me in');
  t.regex(String(headers['user-agent']), /^Quartermaster\/\S+$/);
  t.like(body, { type: 'device.provisioned', apiVersion: '2026-11-01', orgId: at.orgId });
  t.like(body.data, { hostname: 'bäcker-1', siteId: at.siteId });
  for (const library of [new Standard(made.secret), new Svix(made.secret)]) {
    t.notThrows(() => library.verify(text, headers as Record<string, string>));
    t.throws(() => library.verify(`${text} `, headers as Record<string, string>));
  }
  const [event] = await platform.sql<{ occurred_at: Date }>('select occurred_at from events where id = $1', [body.id]);
  t.true(Math.abs(Date.parse(body.timestamp) - (event?.occurred_at.getTime() ?? 0)) < 5000, 'when it happened');
  const sent = await until('it is noted', async () => (await at.deliveries(made.id, '&status=delivered'))[0]);
  t.like(sent, {
    eventId: body.id,
    messageId: headers['webhook-id'],
    attempts: 1,
    responseStatus: 200,
    responseBody: 'ok',
  });
  t.deepEqual(sent.payload, body);
  const [listed] = (await at.call<{ data: { stats: object }[] }>('GET', '/webhooks')).body.data;
  t.deepEqual(listed?.stats, { last24h: { delivered: 1, failed: 0 } });
});

test('families and `*` reach what they name, filters leave out, and a change that is undone sends nothing', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  const all = await at.webhook(`${to.url}/all`, ['*']);
  await at.webhook(`${to.url}/maintenance`, ['maintenance.*']);
  await at.webhook(`${to.url}/site`, ['*'], { filters: { siteIds: [at.siteId] } });
  const [group] = await platform.sql<{ id: string }>(
    `insert into device_groups (org_id, name, type) values ($1, 'Tills', 'static') returning id`,
    [at.orgId],
  );
  await at.webhook(`${to.url}/group`, ['*'], { filters: { groupIds: [group?.id] } });
  const made = await at.call<{ deviceId: string }>('POST', '/devices/provision', {
    orgId: at.orgId,
    siteId: at.siteId,
    hostname: 'till-1',
    osType: 'linux',
  });
  const device = made.body.deviceId;
  await until('all but the group and the maintenance', () => to.got.length === 2);
  await platform.sql(
    `insert into device_group_members (group_id, device_id, org_id, added_by) values ($1, $2, $3, 'manual')`,
    [group?.id, device, at.orgId],
  );
  to.got.length = 0;
  await at.emit('devices.maintenance.ended', { hostname: 'till-1' }, { deviceId: device });
  await until('all but the site', () => to.got.length === 3);
  t.deepEqual(to.got.map(({ path }) => path).sort(), ['/hook/all', '/hook/group', '/hook/maintenance']);
  await t.throwsAsync(
    at.emit('devices.online', { hostname: 'x' }, { deviceId: 'not an id' }),
    undefined,
    'the commit fails',
  );
  await at.emit('devices.offline', { hostname: 'last', lastSeenAt: new Date().toISOString() });
  await until('the last', () => to.got.length === 4);
  t.is((await at.deliveries(all.id)).length, 3);
});

test('an organization hears nothing of another, and a partner of all of its own', async (t) => {
  const [at, other] = [await openTenant(platform), await openTenant(platform)];
  const to = await receiver();
  t.teardown(() => to.close());
  await at.webhook(`${to.url}/own`);
  const made = await at.call(
    'POST',
    '/webhooks',
    {
      name: 'Everybody',
      url: `${to.url}/partner`,
      events: ['*'],
      partnerId: at.partnerId,
    },
    at.partner,
  );
  t.is(made.status, 201);
  t.is((await at.call('GET', `/webhooks/${made.body.data.id}`)).status, 404, "a customer does not see its partner's");
  await other.emit('devices.online', { hostname: 'theirs' });
  await at.emit('devices.online', { hostname: 'ours' });
  await until('both', () => to.got.length === 2);
  t.deepEqual(to.got.map(({ path }) => path).sort(), ['/hook/own', '/hook/partner']);
  t.true(to.got.every(({ body }) => body.orgId === at.orgId));
});

test('what is too large goes as its ids', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  await at.webhook(to.url, ['group.*']);
  const groupId = '11111111-1111-4111-8111-111111111111';
  const added = Array.from({ length: 1000 }, () => crypto.randomUUID());
  await at.emit('device-groups.membership.changed', { groupId, evaluationId: null, added, removed: [] });
  await until('it arrives', () => to.got.length === 1);
  t.deepEqual(to.got[0]?.body.data, { groupId, truncated: true });
});

test('for a day after a rotation both secrets sign, and then only the new one', async (t) => {
  const at = await openTenant(platform);
  const to = await receiver();
  t.teardown(() => to.close());
  const { id, secret: first } = await at.webhook(to.url);
  const rotated = (await at.call('PATCH', `/webhooks/${id}`, { rotateSecret: true })).body.data;
  t.is(rotated.secrets.length, 2);
  t.not(rotated.secret, first);
  const verifies = (secret: string) => {
    const { text, headers } = to.got.at(-1) ?? (t.fail() as never);
    return new Standard(secret).verify(text, headers as Record<string, string>);
  };
  await at.emit('devices.online', { hostname: 'a' });
  await until('it arrives', () => to.got.length === 1);
  t.notThrows(() => verifies(first));
  t.notThrows(() => verifies(rotated.secret));
  await platform.sql(
    `update webhooks set secrets = jsonb_set(secrets, '{1,expiresAt}', to_jsonb(now() - interval '1 second')) where id = $1`,
    [id],
  );
  await at.emit('devices.online', { hostname: 'b' });
  await until('it arrives', () => to.got.length === 2);
  t.throws(() => verifies(first));
  t.notThrows(() => verifies(rotated.secret));
  t.is((await at.read(id)).secrets.length, 1);
  t.false(JSON.stringify(await platform.sql('select * from webhooks')).includes(first.slice(6, 30)), 'sealed');
});
