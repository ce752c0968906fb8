/** Plugins that try what they should not: each attempt is refused or ended, logged, and the server goes on as before. */
import test, { type ExecutionContext } from 'ava';
import { type At, openGround, openTenant, type Shown, until } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround();
test.after.always(() => ground.stop());

/** A plugin whose action `go` is the attempt; enabled in a tenant of its own. */
async function attacker(
  body: string,
  more: Parameters<typeof ground.register>[0] = {},
  head = '',
): Promise<{ at: At; it: Shown }> {
  const manifest = await ground.register(
    { actions: [{ name: 'go', label: 'Go', target: 'org', permission: 'devices:read' }], ...more },
    `${head}\nexport default { handlers: { async go(call, ctx) { ${body} } } };`,
  );
  const at = await openTenant(ground);
  return { at, it: await at.run(manifest) };
}
const CODE = `const code = (run) => Promise.resolve().then(run).then((v) => 'ALLOWED ' + typeof v, (e) => e.code ?? e.message);`;

/** What holds after each attempt: the server answers, and says what happened. */
async function unmoved(t: ExecutionContext): Promise<void> {
  t.is((await ground.platform.call('GET', '/modules', { token: ground.admin.token })).status, 200);
}
async function limit(t: ExecutionContext, { at, it }: { at: At; it: Shown }, resourceLimits: object): Promise<void> {
  const path = `/plugins/installations/${it.id}`;
  t.is((await at.call('PATCH', path, { resourceLimits })).status, 403, 'limits are for operators');
  t.is((await at.call('PATCH', path, { resourceLimits }, ground.admin)).status, 200);
}
/** The process is gone, and the log says why. */
async function ended(t: ExecutionContext, { at, it }: { at: At; it: Shown }, reason: RegExp): Promise<void> {
  await until('its process is gone', () => ground.host.processesOf(it.id) === 0);
  const line = await until('the log says so', async () =>
    (await at.logs(it.id, '&level=error')).find(({ message }) => reason.test(message)),
  );
  t.regex(line.message, reason);
  await unmoved(t);
}

test.serial('files, the environment, other processes and the machine are out of reach', async (t) => {
  const { at, it } = await attacker(
    `const m = (name) => code(() => import(name));
     return {
       imports: await Promise.all(['fs', 'node:fs/promises', 'child_process', 'worker_threads', 'net', 'dns', 'http', 'module',
         'async_hooks', 'process', 'inspector', 'os', 'vm', 'v8', 'node:sqlite', 'wasi', '/etc/passwd', 'file:///etc/passwd', '../../etc/passwd',
         '../sdk/index.js', './../../sdk/runtime/guest/main.js', './\\0', 'plugin/../sdk/index.js', 'std', 'os', 'fault:x'].map(m)),
       parent: await code(() => (async () => {}).constructor('return process.getBuiltinModule("fs")')()),
       globals: ['process', 'require', 'module', 'Buffer', 'fetch', 'WebSocket', 'WebAssembly', 'XMLHttpRequest', 'navigator', 'hostFunctions',
         'std', 'os', 'Worker', '__dirname', 'global', 'Deno', 'Bun', 'print', 'scriptArgs', 'gc'].filter((name) => name in globalThis) };`,
    {},
    CODE,
  );
  const { status, body } = await at.invoke(it.id, 'go');
  t.is(status, 200, JSON.stringify(body));
  const { imports, parent, globals } = body.result as { imports: string[]; parent: string; globals: string[] };
  t.notRegex([...imports, parent].join('\n'), /ALLOWED/);
  t.deepEqual(globals, []);
  await unmoved(t);
});

test.serial('it gets its configuration and its grants, not a bit more', async (t) => {
  const { at, it } = await attacker(
    `return {
       kv: await code(() => ctx.kv.set('a', 1)), devices: await code(() => ctx.api.devices.list()),
       tag: await code(() => ctx.api.devices.tag({ ids: ['${crypto.randomUUID()}'], add: ['x'] })),
       fetch: await code(() => ctx.http.fetch('https://example.com/')), alerts: await code(() => ctx.api.alerts.list()),
     };`,
    {},
    CODE,
  );
  const { body } = await at.invoke(it.id, 'go');
  t.deepEqual([...new Set(Object.values(body.result as object))], ['PERMISSION_DENIED']);
  t.true(
    (await at.logs(it.id)).some(
      ({ message, fields }) => /kv.set was refused/.test(message) && fields?.code === 'PERMISSION_DENIED',
    ),
  );
});

test.serial('only declared hosts are called, and never the metadata address', async (t) => {
  const { at, it } = await attacker(
    `return Promise.all(['https://undeclared.example/', 'http://169.254.169.254/latest/meta-data/', 'https://api.declared.example@evil.example/',
       'https://127.0.0.1/', ctx.config.baseUrl].map((url) => code(() => ctx.http.fetch(url))));`,
    {
      permissions: wants('http'),
      egress: ['api.declared.example', { fromConfig: 'baseUrl' }],
      configSchema: {
        type: 'object',
        properties: { baseUrl: { type: 'string', default: 'https://169.254.169.254/latest/' } },
      },
    },
    CODE,
  );
  const { body } = await at.invoke(it.id, 'go');
  t.deepEqual(body.result, Array(5).fill('EGRESS_DENIED'), 'also where the configuration names it');
});

test("other tenants' devices and data are not there for it", async (t) => {
  const victim = await openTenant(ground);
  const device = await victim.device('secret-pc');
  await ground.platform.sql(
    `insert into plugin_kv (org_id, slug, key, value, bytes) values ($1, 'other-plugin', 'k', '"secret"', 8)`,
    [victim.orgId],
  );
  const { at, it } = await attacker(
    `const id = ${JSON.stringify(device)};
     return { list: (await ctx.api.devices.list()).data.length, get: await code(() => ctx.api.devices.get(id)),
       tag: await code(() => ctx.api.devices.tag({ ids: [id], add: ['mine'] })), fields: await code(() => ctx.api.customFields.set(id, {})),
       kv: await ctx.kv.list() };`,
    { permissions: wants('devices:read', 'devices:tag', 'customFields:write', 'kv') },
    CODE,
  );
  const { body } = await at.invoke(it.id, 'go');
  t.deepEqual(body.result, { list: 0, get: 'NOT_FOUND', tag: 'NOT_FOUND', fields: 'NOT_FOUND', kv: [] });
  const [row] = await ground.platform.sql('select tags from devices where id = $1', [device]);
  t.deepEqual(row, { tags: [] });
});

test.serial('an endless loop is ended when its time is over', async (t) => {
  const one = await attacker('for (;;) {}');
  await limit(t, one, { wallMsPerCall: 500, cpuMsPerCall: 30_000 });
  const { status, body } = await one.at.invoke(one.it.id, 'go');
  t.is(status, 504);
  t.is(body.error?.code, 'PLUGIN_TIMEOUT');
  await ended(t, one, /did not end when its time was over/);
});

test.serial('a loop that takes the processor is ended before its time is over', async (t) => {
  const one = await attacker('for (;;) {}');
  await limit(t, one, { cpuMsPerCall: 100 });
  t.is((await one.at.invoke(one.it.id, 'go')).body.error?.code, 'PLUGIN_FAILED');
  await ended(t, one, /processor time/);
});

test.serial('a gigabyte is refused or ends the process, on the heap and beside it', async (t) => {
  const beside = await attacker(
    `const all = []; for (let i = 0; i < 16; i++) { all.push(new Uint8Array(64 << 20).fill(1)); ctx.log.debug('more'); } return all.length;`,
  );
  const outcome = await beside.at.invoke(beside.it.id, 'go');
  t.is(outcome.status, 502, JSON.stringify(outcome.body));
  t.regex(outcome.body.error?.message ?? '', /memory|allocat/i);
  const heap = await attacker(
    `const all = []; for (;;) { all.push(new Array(1e5).fill({ a: 1 }).map((x) => ({ ...x }))); ctx.log.debug('more'); }`,
  );
  t.is((await heap.at.invoke(heap.it.id, 'go')).status, 502);
  const polite = await attacker(`return 'x'.repeat(10e6);`);
  t.regex((await polite.at.invoke(polite.it.id, 'go')).body.error?.message ?? '', /larger than 1 MB/);
  await ended(t, heap, /memory/);
});
