/** Each shipped plugin on a real server: out of the catalog, in its own process, against other people's servers on this machine. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { runUnitOfWork } from '#core/work';
import { NOBODY } from '../core/context/index.ts';
import { organizationScope } from '../core/jobs/task.ts';
import { shippedPlugins } from '../modules/platform/plugins/services/builtin/packages.ts';
import { type At, openGround, openTenant, until } from '../modules/platform/plugins/test/ground.ts';

const shipped = await shippedPlugins();
const ground = await openGround({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', OUTBOUND_ALLOW_HTTP: 'true' });
test.after.always(() => ground.stop());
const { platform } = ground;

interface Asked {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown>;
}
type Answering = (asked: Asked) => { status?: number; body?: unknown };

/** Somebody's server. */
async function peer(t: { teardown(end: () => unknown): void }, answer: Answering) {
  const asked: Asked[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const { method = '', url = '', headers } = request;
    const one = { method, path: url, headers, body: text ? (JSON.parse(text) as Asked['body']) : {} };
    asked.push(one);
    const { status = 200, body = {} } = answer(one);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** Installed out of the catalog, configured and enabled. */
async function open(slug: string, config: object = {}, at?: At) {
  const found = shipped.find(({ manifest }) => manifest.slug === slug);
  if (!found) throw new Error(`there is no shipped plugin ${slug}`);
  const tenant = at ?? (await openTenant(ground));
  return { at: tenant, installation: await tenant.run(found.manifest, { config }) };
}

async function channel(at: At, config: object): Promise<string> {
  const { status, body } = await at.call('POST', '/alerts/channels', { name: 'Ops', type: 'plugin', config });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.data.id;
}

/** An active device as its agent has made it known. */
async function device(at: At, hostname: string, serial: string): Promise<string> {
  const [row] = await platform.sql<{ id: string }>(
    `with d as (
       insert into devices (org_id, site_id, hostname, os_type, lifecycle, enrolled_at)
       values ($1, $2, $3, 'windows', 'active', now()) returning id, org_id),
     s as (insert into device_state (device_id, org_id) select id, org_id from d),
     h as (insert into device_hardware (device_id, org_id, serial_number, manufacturer) select id, org_id, $4, 'Acme' from d)
     select id from d`,
    [at.orgId, at.siteId, hostname, serial],
  );
  return row?.id ?? '';
}

test.serial('chat-channel: the test of an alert channel arrives in the chat', async (t) => {
  const chat = await peer(t, () => ({ body: 'ok' }));
  const { at } = await open('chat-channel', { style: 'slack', server: chat.url, path: '/services/T0/B0/secret' });
  const id = await channel(at, { plugin: 'chat-channel', provider: 'chat' });
  const { body } = await at.call<{ data: { success: boolean } }>('POST', `/alerts/channels/${id}/test`);
  t.true(body.data.success, JSON.stringify(body));
  t.is(chat.asked[0]?.path, '/services/T0/B0/secret');
  t.is(chat.asked[0]?.body.text, '[INFO] Test: Quartermaster reaches Ops');
});

test.serial(
  'ntfy-push: an alert is published with the priority of its severity, to the topic of the channel',
  async (t) => {
    const ntfy = await peer(t, () => ({ body: { id: 'n-1' } }));
    const { at } = await open('ntfy-push', { server: ntfy.url, topic: 'ops', token: 'tk_secret' });
    const id = await channel(at, { plugin: 'ntfy-push', provider: 'push', settings: { topic: 'on-call' } });
    const { work, log } = platform.platform.tasks;
    const scope = organizationScope(at.orgId, at.partnerId);
    await runUnitOfWork(work, { actor: NOBODY, scope, requestId: 'test', log, role: 'app' }, async (ctx) => {
      const said = { title: 'Disk full', message: 'C: has 2 % left', link: '/alerts/1', at: new Date().toISOString() };
      const about = { orgId: at.orgId, alertId: at.siteId, kind: 'trigger', severity: 'critical' } as const;
      await ctx.use('alert-channels').send(id, { ...about, ...said });
    });
    await platform.runJobs();
    await until('the alert is published', () => ntfy.asked[0]);
    t.is(ntfy.asked[0]?.headers.authorization, 'Bearer tk_secret');
    t.like(ntfy.asked[0]?.body, {
      topic: 'on-call',
      title: 'Disk full',
      priority: 5,
      click: 'http://localhost:3000/alerts/1',
    });
    const attempts = () =>
      platform.sql<{ status: string; id: string }>(
        'select status, provider_message_id as id from alert_notifications where channel_id = $1',
        [id],
      );
    await until('the outcome is stored', async () => (await attempts())[0]?.status !== 'pending');
    t.deepEqual(await attempts(), [{ status: 'sent', id: 'n-1' }]);
  },
);

test.serial(
  'rest-tickets: a device that goes offline has one ticket until it is back; a technician opens another',
  async (t) => {
    const desk = await peer(t, ({ path, body }) => ({
      status: 201,
      body: { ...body, id: path === '/tickets' ? 7 : 8 },
    }));
    const config = { baseUrl: desk.url, token: 'Bearer abc', openWhenOffline: true };
    const { at, installation } = await open('rest-tickets', config);
    const id = await device(at, 'pc-1', 'S1');
    await at.emit('devices.offline', { hostname: 'pc-1', lastSeenAt: '2026-11-21T12:00:00.000Z' }, { deviceId: id });
    await until('the ticket is known', async () => {
      const kept = (await at.kv('rest-tickets'))[`device:${id}`] as { externalId: string | null } | undefined;
      return kept?.externalId === '7';
    });
    await at.emit('devices.offline', { hostname: 'pc-1', lastSeenAt: '2026-11-21T12:00:00.000Z' }, { deviceId: id });
    await at.emit('devices.online', { hostname: 'pc-1' }, { deviceId: id });
    await until('it is closed', () => desk.asked.find(({ method }) => method === 'PATCH'));
    const opened = desk.asked.filter(({ method }) => method === 'POST');
    t.is(opened.length, 1);
    t.like(opened[0]?.body, { title: 'pc-1 is offline' });
    t.is(opened[0]?.headers.authorization, 'Bearer abc');
    t.like(desk.asked.at(-1), { path: '/tickets/7', body: { status: 'closed' } });
    const { status, body } = await at.invoke(installation.id, 'openTicket', {
      targetId: id,
      input: { title: 'The fan is loud' },
    });
    t.is(status, 200, JSON.stringify(body));
    t.like(body.result as object, { externalId: '7' });
    const stranger = await openTenant(ground);
    const elsewhere = await device(stranger, 'pc-2', 'S2');
    const refused = await at.invoke(installation.id, 'openTicket', { targetId: elsewhere, input: { title: 'No' } });
    t.is(refused.status, 404);
  },
);

test.serial('warranty: a filter finds the devices whose warranty ends before a date', async (t) => {
  const ends: Record<string, string> = { OLD: '2026-12-31', NEW: '2029-06-30' };
  const service = await peer(t, ({ path }) => {
    const end = ends[path.split('/').at(-1) ?? ''];
    return end ? { body: { endsAt: end, level: 'on site' } } : { status: 404 };
  });
  const at = await openTenant(ground);
  const [old] = await Promise.all([device(at, 'old', 'OLD'), device(at, 'new', 'NEW'), device(at, 'odd', 'ODD')]);
  for (const [name, fieldKey, type] of [
    ['Warranty end', 'warranty_end', 'date'],
    ['Warranty level', 'warranty_level', 'text'],
  ]) {
    const made = await at.call('POST', '/custom-fields', { name, fieldKey, type, editableBy: 'both' });
    t.is(made.status, 201, JSON.stringify(made.body));
  }
  const { installation } = await open('warranty', { baseUrl: service.url, apiKey: 'secret' }, at);
  await platform.sql(
    `update schedules set slot = date_trunc('minute', now()), run_at = date_trunc('minute', now()) where owner_id = $1`,
    [installation.id],
  );
  await ground.tick();
  const before = async (date: string) => {
    const conditions = {
      operator: 'AND',
      conditions: [{ field: 'custom.warranty_end', operator: 'before', value: date }],
    };
    const { status, body } = await at.call<{ data: { devices: { id: string }[] } }>('POST', '/filters/preview', {
      conditions,
    });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body.data.devices.map(({ id }) => id);
  };
  await until('both are known', async () => (await before('2030-01-01')).length === 2);
  t.deepEqual(await before('2027-06-01'), [old]);
  t.deepEqual(await before('2026-01-01'), []);
  t.deepEqual(service.asked.map(({ path }) => path).sort(), ['/warranties/NEW', '/warranties/ODD', '/warranties/OLD']);
  t.is(service.asked[0]?.headers['x-api-key'], 'secret');
});

test.serial('device-report: the report is made now, of the devices of the organization alone', async (t) => {
  const { at, installation } = await open('device-report');
  const stranger = await openTenant(ground);
  await Promise.all([device(at, 'till-1', 'T1'), device(stranger, 'theirs', 'X1')]);
  const { status, body } = await at.invoke(installation.id, 'make', { input: { format: 'csv' } });
  t.is(status, 200, JSON.stringify(body));
  const { content } = body.result as { content: string };
  const lines = content.trim().split('\r\n');
  t.is(lines.length, 2);
  t.regex(lines[1] ?? '', /^till-1,windows,,Acme,T1,20\d\d-/);
  const offered = await at.call<{ data: { slug: string; key: string }[] }>('GET', '/plugins/providers?kind=reportType');
  t.like(offered.body.data[0], { slug: 'device-report', key: 'devices' });
  const { work, log } = platform.platform.tasks;
  const scope = organizationScope(at.orgId, at.partnerId);
  const options = { actor: NOBODY, scope, requestId: 'test', log, role: 'app', closed: true } as const;
  const report = await runUnitOfWork(work, options, (ctx) =>
    ctx.use('plugins').callProvider({
      ...{ installationId: installation.id, kind: 'reportType', key: 'devices', operation: 'build' },
      input: { input: { olderThanYears: 1 } },
    }),
  );
  t.deepEqual((report as { rows: unknown[] }).rows, []);
});
