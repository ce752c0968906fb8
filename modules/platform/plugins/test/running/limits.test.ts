/** What a plugin may use: calls, requests, lines and values, each with an end that it is told of. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { codeOf, openGround, openTenant } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround({ OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', OUTBOUND_ALLOW_HTTP: 'true' });
test.after.always(() => ground.stop());
const place = (id: string) => `/plugins/installations/${id}`;
const CODE = `const code = (run) => Promise.resolve().then(run).then((v) => v ?? 'done', (e) => e.code ?? e.message);`;

/** A plugin whose action `go` has this body; enabled, with these limits. */
async function open(body: string, limits: object = {}, more: Parameters<typeof ground.register>[0] = {}, head = CODE) {
  const manifest = await ground.register(
    { actions: [{ name: 'go', label: 'Go', target: 'org', permission: 'devices:read' }], ...more },
    `${head}\nexport default { handlers: { async go(call, ctx) { ${body} } } };`,
  );
  const at = await openTenant(ground);
  const it = await at.run(manifest);
  const changed = await at.call('PATCH', place(it.id), { resourceLimits: limits }, ground.admin);
  if (changed.status !== 200) throw new Error(JSON.stringify(changed.body));
  return { at, it, manifest, go: () => at.invoke(it.id, 'go') };
}
/** Runs once more where a new minute began in between, which starts the count anew. */
async function withinMinute<T>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    const minute = Math.floor(Date.now() / 60_000);
    const result = await run();
    if (Math.floor(Date.now() / 60_000) === minute) return result;
  }
}

test.serial('only operators change limits', async (t) => {
  const { at, it } = await open('return 1;');
  t.is((await at.call('PATCH', place(it.id), { resourceLimits: { memoryMb: 64 } })).status, 403);
  t.is((await at.call('PATCH', place(it.id), { resourceLimits: { memoryMb: 64 } }, at.partner)).status, 403);
  t.is((await at.call('PATCH', place(it.id), { resourceLimits: { memoryMb: 1 } }, ground.admin)).status, 400);
  t.deepEqual((await at.read(it.id)).resourceLimits, {});
});

test.serial('other limits hold from the next call on, where they are those of a process in another one', async (t) => {
  const { at, it, go } = await open('return count();', {}, {}, 'let n = 0; const count = () => ++n;');
  const after = async (resourceLimits: object) => {
    t.is((await at.call('PATCH', place(it.id), { resourceLimits }, ground.admin)).status, 200);
    return (await go()).body.result;
  };
  t.is((await go()).body.result, 1);
  t.is(await after({ callsPerMinute: 400 }), 2);
  t.is(await after({ callsPerMinute: 400, cpuMsPerCall: 3_000 }), 1);
  t.is(await after({ callsPerMinute: 400, cpuMsPerCall: 3_000, memoryMb: 64 }), 1);
  t.is(await after({ callsPerMinute: 500, cpuMsPerCall: 3_000, memoryMb: 64 }), 2);
});

test.serial('more calls than may be in a minute are put off, and that is no failure of the plugin', async (t) => {
  const { at, it, go } = await open('return 1;', { callsPerMinute: 2 });
  const third = await withinMinute(async () => {
    await go();
    await go();
    return go();
  });
  t.is(third.status, 503);
  t.is(codeOf(third), 'PLUGIN_BUSY');
  t.true(Number(third.headers.get('retry-after')) >= 1);
  t.like((await at.call('GET', `${place(it.id)}/health`)).body, { health: 'ok', errors: 0 });
});

test.serial(
  'declared servers are called through the server, so many times a minute; redirects are not followed',
  async (t) => {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['x-from']}`);
      if (request.url === '/away') response.writeHead(302, { location: '/other' });
      response.end('hello');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => void server.close());
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const configSchema = {
      type: 'object' as const,
      properties: { baseUrl: { type: 'string' as const, default: baseUrl } },
    };
    const { go } = await open(
      `const get = (path) => code(() => ctx.http.fetch(ctx.config.baseUrl + path, { headers: { 'x-from': 'plugin' } }));
     return [await get('/one'), await get('/away'), await get('/three')];`,
      { egressPerMinute: 2 },
      { permissions: wants('http'), egress: [{ fromConfig: 'baseUrl' }], configSchema },
    );
    const [one, away, three] = (await withinMinute(async () => {
      asked.length = 0;
      return (await go()).body.result;
    })) as [{ status: number; body: string }, { status: number }, string];
    t.like(one, { status: 200, body: 'hello' });
    t.is(away.status, 302);
    t.is(three, 'RATE_LIMITED');
    t.deepEqual(asked, ['GET /one plugin', 'GET /away plugin']);
  },
);

test.serial('values have a size and an end; versions keep two writers from each other', async (t) => {
  const { at, go, manifest } = await open(
    `const large = 'x'.repeat(65_536);
     return {
       large: await code(() => ctx.kv.set('large', large)),
       fits: (await ctx.kv.set('a', 'x'.repeat(600))).version,
       full: await code(() => ctx.kv.set('b', 'x'.repeat(600))),
       again: (await ctx.kv.set('a', 1)).version,
       made: (await ctx.kv.cas('c', 1, null)).version,
       twice: await code(() => ctx.kv.cas('c', 2, null)),
       stale: await code(() => ctx.kv.cas('a', 2, 1)),
       next: (await ctx.kv.cas('a', 2, 2)).version,
       list: (await ctx.kv.list({ prefix: 'a' })).map(({ key, value }) => [key, value]),
       gone: [await ctx.kv.delete('c'), await ctx.kv.delete('c'), await ctx.kv.get('c')] };`,
    { kvBytes: 1_000 },
    { permissions: wants('kv') },
  );
  t.deepEqual((await go()).body.result, {
    ...{
      large: 'TOO_LARGE',
      fits: 1,
      full: 'QUOTA_EXCEEDED',
      again: 2,
      made: 1,
      twice: 'CONFLICT',
      stale: 'CONFLICT',
      next: 3,
    },
    ...{ list: [['a', 2]], gone: [true, false, null] },
  });
  t.deepEqual(await at.kv(manifest.slug), { a: 2 });
});

test.serial('lines are cut, redacted and counted; the one that was too many says so', async (t) => {
  const { at, it, go } = await open(
    `ctx.log.info('x'.repeat(5_000), { apiKey: 'sk-123456', deep: { password: 'secret' }, plain: 1 });
     ctx.log.warn('large', { text: 'y'.repeat(9_000) });
     for (let n = 0; n < 5; n++) ctx.log.debug('line ' + n);
     return ctx.kv.get('x');`,
    { logPerMinute: 4 },
    { permissions: wants('kv') },
  );
  const lines = await withinMinute(async () => {
    await ground.platform.sql('delete from plugin_logs where installation_id = $1', [it.id]);
    await go();
    return at.logs(it.id);
  });
  t.deepEqual(lines.map(({ message }) => message.slice(0, 30)).sort(), [
    'More than 4 lines within a min',
    'large',
    'line 0',
    'line 1',
    'x'.repeat(30),
  ]);
  const long = lines.find(({ level }) => level === 'info');
  t.is(long?.message.length, 4_000);
  t.notRegex(JSON.stringify(long?.fields), /sk-123456|secret/);
  t.is(long?.fields?.plain, 1);
  t.like(lines.find(({ message }) => message === 'large')?.fields, { truncated: true });
});

test.serial(
  'what others see of what it does stands in the trail, as done by the system for the installation',
  async (t) => {
    const { at, it } = await open('', {}, { permissions: wants('devices:read', 'devices:tag') });
    const device = await at.device('pc');
    const other = await open(
      `await ctx.api.devices.tag({ ids: ['${device}'], add: ['seen'] }); return (await ctx.api.devices.list()).data.map((d) => d.tags);`,
      {},
      { permissions: wants('devices:read', 'devices:tag') },
    );
    t.is((await other.go()).status, 502, 'a device of somebody else is none');
    const manifest = await ground.register(
      {
        permissions: wants('devices:read', 'devices:tag'),
        actions: [{ name: 'go', label: 'Go', target: 'device', permission: 'devices:read' }],
      },
      `export default { handlers: { async go(call, ctx) { await ctx.api.devices.tag({ ids: [call.target.id], add: ['seen'] });
       return (await ctx.api.devices.list()).data.map((d) => [d.hostname, d.tags]); } } };`,
    );
    const own = await at.run(manifest);
    t.deepEqual((await at.invoke(own.id, 'go', { targetId: device })).body.result, [['pc', ['seen']]]);
    const [entry, ...more] = await ground.platform.audits({ action: 'plugin.call', orgId: at.orgId });
    t.like(entry, { actor_type: 'system', actor_id: own.id, resource_id: own.id, details: { method: 'devices.tag' } });
    t.is(more.length, 0, `reading leaves none, and ${it.slug} did nothing`);
  },
);

test.serial('what this server has nothing behind is said to be so; people are told through their inbox', async (t) => {
  const { at, go } = await open(
    `return [await code(() => ctx.api.alerts.list()), await code(() => ctx.api.tickets.list()),
       await code(() => ctx.api.notifications.send({ title: 'Disk', message: 'It is full' })),
       await code(() => ctx.api.notifications.send({ userId: '${crypto.randomUUID()}', title: 'You', message: 'Hello' }))];`,
    {},
    { permissions: wants('alerts:read', 'tickets:read', 'notifications:send') },
  );
  t.deepEqual((await go()).body.result, ['NOT_AVAILABLE', 'NOT_AVAILABLE', 'done', 'NOT_AVAILABLE']);
  await ground.platform.runJobs();
  const inbox = await at.call<{ data: { title: string; message: string }[] }>('GET', '/notifications');
  t.true(
    inbox.body.data.some(({ title, message }) => title.endsWith(': Disk') && message === 'It is full'),
    JSON.stringify(inbox.body),
  );
});
