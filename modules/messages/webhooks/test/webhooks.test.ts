/** Making, reading, changing and removing webhooks. */
import test from 'ava';
import { orgUser, partnerUser } from '#test';
import { codeOf, openPlatform, openTenant } from './ground.ts';

const platform = await openPlatform();
test.after.always(() => platform.stop());
const URL = 'https://8.8.8.8/hook';

test('the secret is shown once, values of headers never', async (t) => {
  const at = await openTenant(platform);
  const made = await at.webhook(URL, ['device.online'], { headers: [{ key: 'Authorization', value: 'Bearer top' }] });
  t.regex(made.secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const read = await at.read(made.id);
  t.deepEqual(read.headers, [{ key: 'Authorization', value: '********' }]);
  t.deepEqual(read.disablePolicy, { afterDays: 5, afterFailedDeliveries: 20, noticesAt: [5, 10, 15] });
  const everything = JSON.stringify([read, (await at.call('GET', '/webhooks')).body, await platform.audits()]);
  t.false(everything.includes('top') || everything.includes(made.secret));
  const stored = JSON.stringify(await platform.sql('select * from webhooks where id = $1', [made.id]));
  t.false(stored.includes('top') || stored.includes(made.secret));
  const own = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  t.is((await at.webhook(URL, ['*'], { secret: own })).secret, own);
});

test('what cannot be called, is not known or would forge a message is refused', async (t) => {
  const at = await openTenant(platform);
  const post = (more: object) => at.call('POST', '/webhooks', { name: 'x', url: URL, events: ['*'], ...more });
  for (const url of ['http://169.254.169.254/', 'https://10.0.0.1/', 'https://user:pw@8.8.8.8/']) {
    t.is(codeOf(await post({ url })), 'URL_BLOCKED', url);
  }
  const unknown = await post({ events: ['device.online', 'device.exploded', 'nothing.*'] });
  t.is(codeOf(unknown), 'UNKNOWN_EVENT');
  const [{ unknown: which, allowed } = t.fail() as never] = (
    unknown.body as unknown as { error: { details: { unknown: string[]; allowed: string[] }[] } }
  ).error.details;
  t.deepEqual(which, ['device.exploded', 'nothing.*']);
  t.true(allowed.includes('device.offline') && allowed.includes('webhook.test'));
  for (const key of ['Webhook-Signature', 'HOST', 'content-length', 'Connection', 'bad name']) {
    t.is((await post({ headers: [{ key, value: 'x' }] })).status, 400, key);
  }
  t.is((await post({ headers: [{ key: 'x-a', value: 'a\r\nhost: b' }] })).status, 400);
  for (const secret of ['whsec_short', 'plain', `whsec_${Buffer.alloc(65).toString('base64')}`]) {
    t.is((await post({ secret })).status, 400, secret);
  }
});

test('another URL wants the values of all headers again, or none', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.webhook(URL, ['*'], { headers: [{ key: 'X-Key', value: 'one' }] });
  const patch = (body: object) => at.call('PATCH', `/webhooks/${id}`, body);
  const elsewhere = 'https://8.8.4.4/hook';
  t.is(codeOf(await patch({ url: elsewhere })), 'CREDENTIALS_REQUIRED');
  t.is(codeOf(await patch({ url: elsewhere, headers: [{ key: 'X-Key', value: '********' }] })), 'CREDENTIALS_REQUIRED');
  const value = async () =>
    (await platform.sql<{ headers: { value: string }[] }>('select headers from webhooks where id = $1', [id]))[0]
      ?.headers[0]?.value;
  const before = await value();
  t.is((await patch({ url: URL, name: 'Same', headers: [{ key: 'x-key', value: '********' }] })).status, 200);
  t.is(await value(), before, 'kept');
  t.is((await patch({ url: elsewhere, headers: [{ key: 'X-Key', value: 'two' }] })).status, 200);
  t.is((await patch({ url: URL, headers: [] })).status, 200);
  t.is(codeOf(await patch({})), 'NO_UPDATES');
});

test.serial('a paused webhook is told of nothing new; what waited is kept a day, and then cancelled', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.webhook(URL, ['device.*']);
  await at.emit('devices.online', { hostname: 'before' });
  t.is((await at.call('PATCH', `/webhooks/${id}`, { status: 'paused' })).body.data.status, 'paused');
  await at.emit('devices.online', { hostname: 'meanwhile' });
  await cancel();
  const [waiting, ...more] = await at.deliveries(id);
  t.is(waiting?.status, 'pending');
  t.is(more.length, 0);
  await platform.sql(`update webhook_deliveries set created_at = now() - interval '25 hours' where webhook_id = $1`, [
    id,
  ]);
  await cancel();
  t.like((await at.deliveries(id))[0], { status: 'failed', errorCode: 'cancelled' });
  await at.call('PATCH', `/webhooks/${id}`, { status: 'active' });
  await at.emit('devices.online', { hostname: 'after' });
  t.is((await at.deliveries(id, '&status=pending')).length, 1);
});

test.serial('a removed webhook is gone with its secrets, and what waited for it is cancelled', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.webhook(URL, ['*'], { headers: [{ key: 'X-Key', value: 'one' }] });
  await at.emit('devices.online', { hostname: 'a' });
  t.deepEqual((await at.call<object>('DELETE', `/webhooks/${id}`)).body, { success: true });
  t.is((await at.call('GET', `/webhooks/${id}`)).status, 404);
  t.is((await at.call('GET', `/webhooks/${id}/deliveries`)).status, 404);
  await cancel();
  const [row] = await platform.sql('select status, error_code from webhook_deliveries where webhook_id = $1', [id]);
  t.deepEqual(row, { status: 'failed', error_code: 'cancelled' });
  const [left] = await platform.sql('select headers, secrets from webhooks where id = $1', [id]);
  t.deepEqual(left, { headers: [], secrets: [] });
  await at.emit('devices.online', { hostname: 'b' });
  t.is((await platform.sql('select from webhook_deliveries where webhook_id = $1', [id])).length, 1);
  await platform.sql(`update webhook_deliveries set created_at = now() - interval '31 days' where webhook_id = $1`, [
    id,
  ]);
  await platform.sql(`update webhooks set deleted_at = now() - interval '31 days' where id = $1`, [id]);
  await run('webhooks/prune-deliveries');
  t.is((await platform.sql('select from webhooks where id = $1', [id])).length, 0);
});

async function run(task: string): Promise<void> {
  await platform.sql(`select graphile_worker.add_job($1, '{"orgId":null,"requestId":"test","data":{}}'::json)`, [task]);
  await platform.runJobs();
}
const cancel = () => run('webhooks/cancel-deliveries');

test('an organization has at most 50, also when many are made at once', async (t) => {
  const at = await openTenant(platform);
  const post = () => at.call('POST', '/webhooks', { name: 'x', url: URL, events: ['*'] });
  const made = await Promise.all(Array.from({ length: 53 }, post));
  t.is(made.filter(({ status }) => status === 201).length, 50);
  t.deepEqual([...new Set(made.filter(({ status }) => status !== 201).map(codeOf))], ['WEBHOOK_LIMIT_REACHED']);
});

test('who is limited to a site neither makes webhooks nor sees what was sent of other sites', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.webhook(URL, ['*']);
  const limited = await orgUser(platform, { orgId: at.orgId, siteIds: [at.siteId] });
  const as = (method: string, path: string, body?: object) => at.call<{ data: unknown[] }>(method, path, body, limited);
  t.is(codeOf(await as('POST', '/webhooks', { name: 'x', url: URL, events: ['*'] })), 'TARGET_OUT_OF_SCOPE');
  t.is(codeOf(await as('PATCH', `/webhooks/${id}`, { url: 'https://8.8.4.4/' })), 'TARGET_OUT_OF_SCOPE');
  const [other] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Other') returning id`,
    [at.orgId],
  );
  const ids = await platform.sql<{ id: string }>(
    `insert into devices (org_id, site_id, hostname, os_type) values ($1, $2, 'a', 'linux'), ($1, $3, 'b', 'linux') returning id`,
    [at.orgId, at.siteId, other?.id],
  );
  await at.emit('devices.online', { hostname: 'a' }, { siteId: at.siteId, deviceId: ids[0]?.id });
  await at.emit('devices.online', { hostname: 'b' }, { siteId: other?.id, deviceId: ids[1]?.id });
  t.is((await at.deliveries(id)).length, 2);
  t.is((await as('GET', `/webhooks/${id}/deliveries`)).body.data.length, 1);
});

test('a partner-wide webhook is for people of the partner who reach all of it', async (t) => {
  const at = await openTenant(platform);
  const body = { name: 'All', url: URL, events: ['*'], partnerId: at.partnerId };
  const some = await partnerUser(platform, {
    partnerId: at.partnerId,
    roleId: at.partnerRoleId,
    orgAccess: 'selected',
    orgIds: [at.orgId],
  });
  t.is((await at.call('POST', '/webhooks', body)).status, 403);
  t.is((await at.call('POST', '/webhooks', body, some)).status, 403);
  const made = await at.call('POST', '/webhooks', body, at.partner);
  t.is(made.status, 201);
  const stranger = await openTenant(platform);
  for (const [method, path] of [
    ['GET', ''],
    ['PATCH', ''],
    ['DELETE', ''],
    ['GET', '/deliveries'],
    ['POST', '/test'],
  ]) {
    const found = `/webhooks/${made.body.data.id}${path}`;
    const answer = await stranger.call(
      method ?? '',
      found,
      method === 'PATCH' ? { name: 'y' } : undefined,
      stranger.partner,
    );
    t.is(answer.status, 404, found);
  }
});

test('reading needs organizations:read, writing organizations:write', async (t) => {
  const at = await openTenant(platform);
  const { id } = await at.webhook(URL);
  t.is((await at.call('GET', `/webhooks/${id}`, undefined, at.viewer)).status, 200);
  t.is((await at.call('GET', `/webhooks/${id}/deliveries`, undefined, at.viewer)).status, 200);
  for (const [path, body] of [
    ['', { name: 'y', url: URL, events: ['*'] }],
    [`/${id}/test`, {}],
  ] as const) {
    t.is((await at.call('POST', `/webhooks${path}`, body, at.viewer)).status, 403);
  }
});

test('events cost no statement where nobody listens, and are heard as soon as somebody does', async (t) => {
  const at = await openTenant(platform);
  await at.emit('devices.online', { hostname: 'unheard' });
  const { id } = await at.webhook(URL);
  await at.emit('devices.online', { hostname: 'heard' });
  t.is((await at.deliveries(id)).length, 1);
});
