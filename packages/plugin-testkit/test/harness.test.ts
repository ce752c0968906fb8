/** The harness: a plugin lives in it as on a server. */
import test from 'ava';
import { createHarness, HandlerError } from '../src/index.ts';
import { deskHarness, deskManifest, harnessOf, manifestOf, offline, wants } from './plugins.ts';

test('an event is delivered twice with one id, and a plugin that minds it acts once', async (t) => {
  const harness = deskHarness();
  harness.http.on('POST https://desk.example/tickets', { status: 201, body: { number: 7 } });
  t.deepEqual(await harness.emit(offline), ['onOffline']);
  t.is(harness.http.requests.length, 1);
  const [request] = harness.http.requests;
  t.is(request?.headers.authorization, 'Bearer sk-1234567890');
  t.deepEqual(request?.json(), { title: 'pc-1 is offline', queue: 'new' });
  t.deepEqual(Object.values(harness.kv.values), [{ number: 7 }]);
  t.is(harness.calls.filter(({ method }) => method === 'kv.get').length, 2, 'it was called twice');
  await harness.emit(offline, { times: 1 });
  t.is(harness.calls.filter(({ method }) => method === 'kv.get').length, 3);
});

test('filters and grants decide what is heard, as on a server', async (t) => {
  const harness = deskHarness();
  t.deepEqual(await harness.emit({ ...offline, data: { osType: 'linux' } }), []);
  t.deepEqual(await harness.emit({ type: 'device.online' }), []);
  const ungranted = deskHarness({ granted: ['kv', 'http', 'secrets:config'] });
  t.deepEqual(await ungranted.emit(offline), []);
});

test('what a handler throws is thrown by the harness, as the host would see it', async (t) => {
  const harness = deskHarness();
  harness.http.on('POST https://desk.example/*', { status: 503 });
  const later = await t.throwsAsync(harness.emit(offline), { instanceOf: HandlerError });
  t.like(later, { code: 'RETRYABLE', afterMs: 60_000, message: 'the desk is away' });
  harness.http.on('POST https://desk.example/*', { status: 403 });
  t.like(await t.throwsAsync(harness.emit(offline)), { code: 'PERMANENT', afterMs: null });
});

test('with retry, failures are tried again at the times of the server, five times at most', async (t) => {
  const harness = deskHarness();
  const start = harness.now.getTime();
  let asked = 0;
  harness.http.on('POST https://desk.example/*', () => (++asked < 3 ? 'down' : { body: { number: 1 } }));
  await harness.emit(offline, { times: 1, retry: true });
  t.is(asked, 3);
  t.is(harness.now.getTime() - start, 35_000, 'after 5 s and 30 s');
  harness.http.on('POST https://desk.example/*', 'down');
  await t.throwsAsync(harness.emit(offline, { retry: true }), { message: /does not answer/ });
  t.is(harness.http.requests.length, 8);
});

test('secrets are only there where they were granted, and no log shows what looks like one', async (t) => {
  const harness = deskHarness();
  harness.http.on('POST https://desk.example/tickets', { body: { number: 7 } });
  await harness.emit(offline);
  t.like(harness.logs[0], { level: 'info', hook: 'device.offline', message: 'A ticket was opened' });
  t.deepEqual(harness.logs[0]?.fields, { apiKey: '[REDACTED]', hostname: 'pc-1' });
  const without = deskHarness({ granted: ['devices:read', 'kv', 'http'] });
  without.http.on('POST https://desk.example/tickets', { body: { number: 7 } });
  await without.emit(offline);
  t.is(without.http.requests[0]?.headers.authorization, 'Bearer undefined');
});

test('what a server would refuse to install is refused', (t) => {
  const make = (changes: object) => () => deskHarness(changes);
  t.throws(make({ manifest: { ...deskManifest, permissions: [] } }), { message: /hooks.0.event: needs/ });
  t.throws(make({ plugin: { handlers: {} } }), { message: /does not have: onOffline/ });
  t.throws(make({ config: { baseUrl: 'no' } }), { message: /config.apiKey: is required\n.*config.baseUrl/s });
  t.throws(make({ manifest: { ...deskManifest, engine: { api: '^9' } } }), { message: /engine.api/ });
  t.throws(make({ granted: ['devices:tag'] }), { message: /not among the permissions/ });
});

test('what is not declared is refused, noted, and fails the assertion', async (t) => {
  const harness = harnessOf(
    {
      async go(_call, ctx) {
        const tried = [
          () => ctx.kv.get('x'),
          () => ctx.http.fetch('https://evil.example/'),
          () => ctx.api.devices.get('nobody'),
        ];
        const said = await Promise.all(tried.map((one) => one().catch((error: { code: string }) => error.code)));
        return said;
      },
    },
    { permissions: wants('http', 'tickets:read'), egress: ['api.example.com'] },
  );
  t.deepEqual(await harness.invoke('go'), ['PERMISSION_DENIED', 'EGRESS_DENIED', 'PERMISSION_DENIED']);
  t.throws(() => harness.assertNoUndeclaredCapabilities(), { message: /kv.get: needs[\s\S]*evil[\s\S]*devices:read/ });
  t.true(harness.logs.some(({ message }) => message.startsWith('kv.get was refused: ')));
});

test('what is declared and never used is told', async (t) => {
  const harness = harnessOf(
    { go: (_call, ctx) => ctx.kv.set('a', 1), other: () => 1 },
    { permissions: wants('kv', 'http', 'tickets:read'), egress: ['api.example.com'] },
  );
  await harness.invoke('go');
  t.deepEqual(harness.assertNoUndeclaredCapabilities(), [
    ...['the permission http', 'the permission tickets:read', 'the server api.example.com', 'the handler other'],
  ]);
});

test('what was declared and not granted is refused, and is no undeclared capability', async (t) => {
  const harness = harnessOf({ go: (_call, ctx) => ctx.kv.set('a', 1) }, { permissions: wants('kv') }, { granted: [] });
  t.like(await t.throwsAsync(harness.invoke('go')), { code: 'PERMISSION_DENIED' });
  t.deepEqual(harness.assertNoUndeclaredCapabilities(), []);
});

test('everything crosses as JSON: nothing is shared with the test, and what is no JSON does not get through', async (t) => {
  const given = { list: [1], gone: undefined };
  const harness = harnessOf(
    {
      go(call, _ctx) {
        call.input.list.push(2);
        return { list: call.input.list, keys: Object.keys(call.input), date: new Date(0), gone: undefined };
      },
      circle: () => {
        const one: Record<string, unknown> = {};
        one.one = one;
        return one;
      },
      large: () => 'x'.repeat(1_100_000),
      proto: () => JSON.parse('{"__proto__": 1}'),
    },
    {
      actions: ['go', 'circle', 'large', 'proto'].map((name) => ({
        ...{ name, label: name, target: 'org' as const, permission: 'devices:read' },
        inputSchema: {
          type: 'object' as const,
          properties: { list: { type: 'array' as const, items: { type: 'integer' as const } } },
        },
      })),
    },
  );
  t.deepEqual(await harness.invoke('go', { input: JSON.parse(JSON.stringify(given)) }), {
    ...{ list: [1, 2], keys: ['list'], date: '1970-01-01T00:00:00.000Z' },
  });
  t.deepEqual(given.list, [1]);
  t.like(await t.throwsAsync(harness.invoke('circle')), { code: 'CRASHED' });
  t.like(await t.throwsAsync(harness.invoke('large')), { code: 'TOO_LARGE' });
  t.deepEqual(await harness.invoke('proto'), {}, 'what would reach a prototype is dropped');
});

test('a schedule runs by its name, a collector writes what its manifest names and nothing else', async (t) => {
  const harness = createHarness({
    manifest: manifestOf({
      permissions: wants('customFields:write', 'kv', 'devices:read'),
      schedules: [{ name: 'nightly', cron: '0 3 * * *', handler: 'nightly' }],
      providers: [
        {
          kind: 'collector',
          key: 'warranty',
          label: 'Warranty',
          handlers: { collect: 'collect' },
          cron: '0 4 * * *',
          fields: ['warranty'],
        },
      ],
    }),
    plugin: {
      handlers: {
        nightly: (occurrence, ctx) => ctx.kv.set('last', occurrence),
        async collect(input, ctx) {
          const { data } = await ctx.api.devices.list();
          return {
            values: data.map(({ id }) => ({ deviceId: id, fields: { warranty: '2027-01-01', other: input.fields } })),
          };
        },
      },
    },
    devices: [{}],
    customFields: [{ key: 'warranty', type: 'date' }, { key: 'other' }],
  });
  await harness.run('nightly');
  t.deepEqual(harness.kv.values, {
    last: {
      id: 'schedule:nightly:2026-01-05T08:00:00.000Z',
      name: 'nightly',
      at: '2026-01-05T08:00:00.000Z',
      data: {},
    },
  });
  await harness.run('warranty');
  t.deepEqual(harness.devices[0]?.customFields, { warranty: '2027-01-01' });
  t.true(harness.logs.some(({ message }) => message.includes('does not name were left out: other')));
  await t.throwsAsync(harness.run('nothing'), { message: /no schedule and no collector/ });
});

test('the answers of providers are held to the schema of their kind', async (t) => {
  const harness = createHarness({
    manifest: manifestOf({
      providers: [{ kind: 'notificationChannel', key: 'chat', label: 'Chat', handlers: { send: 'send' } }],
    }),
    plugin: { handlers: { send: (message) => (message.title === 'good' ? { delivered: true } : { sent: 1 }) } },
  });
  t.deepEqual(await harness.provider('notificationChannel', 'chat', 'send', { title: 'good' }), { delivered: true });
  const fault = await t.throwsAsync(harness.provider('notificationChannel', 'chat', 'send', { title: 'bad' }));
  t.like(fault, { code: 'PERMANENT', message: 'The answer of send is not valid: delivered is required' });
  await t.throwsAsync(harness.provider('notificationChannel', 'chat', 'test'), { message: /offers no test/ });
});

test('its life: installed, enabled, disabled, moved to another version with its configuration, and removed', async (t) => {
  const said: string[] = [];
  const harness = createHarness({
    manifest: manifestOf({
      version: '2.0.0',
      configSchema: { type: 'object', required: ['url'], properties: { url: { type: 'string' } } },
      migrations: [{ from: '^1', handler: 'fromOne' }],
      hooks: [{ event: 'plugin.event', handler: 'hear' }],
    }),
    plugin: {
      onInstall: () => void said.push('install'),
      onEnable: () => void said.push('enable'),
      onDisable: () => {
        throw new Error('never mind');
      },
      onUpgrade: ({ from, to }) => void said.push(`${from} to ${to}`),
      onUninstall: () => void said.push('uninstall'),
      handlers: { fromOne: ({ server }) => ({ url: server }), hear: () => void said.push('heard') },
    },
    config: { url: 'x' },
  });
  await harness.install();
  await harness.emit({ type: 'plugin.event' }, { times: 1 });
  await harness.disable();
  t.deepEqual(await harness.emit({ type: 'plugin.event' }), []);
  await harness.enable();
  t.deepEqual(await harness.upgrade('1.4.0', { server: 'y' }), { url: 'y' });
  await t.throwsAsync(harness.upgrade('0.9.0', { server: 'y' }), { message: /config.server: is not known/ });
  await harness.uninstall();
  t.deepEqual(said, ['install', 'heard', 'enable', '1.4.0 to 2.0.0', 'uninstall']);
  t.true(harness.logs.some(({ message }) => message === 'onDisable failed: never mind'));
});

test('a fault of the test itself is not for the plugin to catch', async (t) => {
  const harness = deskHarness({
    plugin: { handlers: { onOffline: (_event, ctx) => ctx.http.fetch('https://desk.example/').catch(() => 'hidden') } },
  });
  harness.http.on('https://desk.example/', () => {
    throw new TypeError('the test is wrong');
  });
  await t.throwsAsync(harness.emit(offline), { instanceOf: TypeError, message: 'the test is wrong' });
});
