/** A plugin that has broken out of the runtime: what it says on the wire, and what the walls round its process hold. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import type { Manifest } from '#plugin-sdk/host';
import { openGround, openTenant, until } from '../ground.ts';
import { wants } from '../packages.ts';
import { useHostileRuntime } from './runtime.ts';

const ground = await openGround();
test.after.always(() => ground.stop());

const inputSchema = {
  type: 'object' as const,
  properties: {
    attack: { type: 'string' as const },
    port: { type: 'integer' as const },
    pid: { type: 'integer' as const },
  },
};
let manifest: Manifest;
test.before(async () => {
  await useHostileRuntime(ground);
  const actions = [{ name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read', inputSchema }];
  manifest = await ground.register({ permissions: wants('kv'), actions }, 'export default {};');
});
async function attacker() {
  const at = await openTenant(ground);
  const it = await at.run(manifest);
  return {
    at,
    it,
    attack: (attack: string, more: object = {}) => at.invoke(it.id, 'go', { input: { attack, ...more } }),
  };
}
async function quarantined(t: ExecutionContext, { at, it }: Awaited<ReturnType<typeof attacker>>, reason: RegExp) {
  const now = await until('it is switched off', async () => {
    const seen = await at.read(it.id);
    return seen.health === 'disabled_by_system' ? seen : null;
  });
  t.false(now.enabled);
  t.regex(now.errorMessage ?? '', reason);
  t.true((await at.logs(it.id, '&level=error')).some(({ message }) => reason.test(message)));
  await until('its process is gone', () => ground.host.processesOf(it.id) === 0);
  t.is((await ground.platform.call('GET', '/modules', { token: ground.admin.token })).status, 200);
  t.is(({} as { polluted?: boolean }).polluted, undefined);
}

const LIES: [string, RegExp][] = [
  ['forgedId', /not asked, or with a forged token/],
  ['forgedToken', /not asked, or with a forged token/],
  ['garbage', /a message that the protocol does not know/],
  ['unknown', /protocol does not know/],
  ['large', /larger than 1 MB/],
];
for (const [attack, reason] of LIES) {
  test.serial(`${attack}: the process is ended and the plugin switched off at once`, async (t) => {
    const one = await attacker();
    t.is((await one.attack(attack)).status, 502);
    await quarantined(t, one, reason);
  });
}

test.serial('keys that reach a prototype are dropped and noted, and the plugin goes on', async (t) => {
  const one = await attacker();
  t.deepEqual((await one.attack('pollution')).body.result, { a: [{}] });
  t.deepEqual((await one.attack('constructorKey')).body.result, {});
  t.is(({} as { polluted?: boolean }).polluted, undefined);
  const lines = await one.at.logs(one.it.id, '&level=warn');
  t.deepEqual(lines.map(({ message }) => message).sort(), [
    'Dropped from what it sent: __proto__',
    'Dropped from what it sent: constructor',
  ]);
  t.like(await one.at.read(one.it.id), { enabled: true, health: 'ok' });
});

test.serial('a flood of calls waits in its own pipe, and ends with the time of the call', async (t) => {
  const one = await attacker();
  const limits = { resourceLimits: { wallMsPerCall: 1_000 } };
  t.is((await one.at.call('PATCH', `/plugins/installations/${one.it.id}`, limits, ground.admin)).status, 200);
  const before = process.memoryUsage().rss;
  t.true([502, 504].includes((await one.attack('flood')).status));
  await until('its process is gone', () => ground.host.processesOf(one.it.id) === 0);
  t.true(process.memoryUsage().rss - before < 100e6, 'the server holds nothing of it');
});

test.serial('unknown methods and calls that are too large are refused without being read', async (t) => {
  const one = await attacker();
  t.like((await one.attack('unknownMethod')).body.result, { code: 'UNKNOWN_METHOD' });
  t.like((await one.attack('largeCall')).body.result, { code: 'TOO_LARGE' });
  t.true(
    (await one.at.logs(one.it.id)).some(({ message }) => /^root was refused: There is no method root/.test(message)),
  );
});

test.serial('who does not read what it is sent gets no more, and ends', async (t) => {
  const one = await attacker();
  t.is((await one.attack('deaf')).status, 502);
  await quarantined(t, one, /does not read what it is sent/);
});

test.serial('a result after its deadline is discarded, and a spent token opens nothing', async (t) => {
  const { at, it, attack } = await attacker();
  await at.call('PATCH', `/plugins/installations/${it.id}`, { resourceLimits: { wallMsPerCall: 200 } }, ground.admin);
  t.is((await attack('late')).body.error?.code, 'PLUGIN_TIMEOUT');
  await until('it is logged', async () =>
    (await at.logs(it.id)).some(({ message }) => /after its deadline/.test(message)),
  );
  await at.call('PATCH', `/plugins/installations/${it.id}`, { resourceLimits: {} }, ground.admin);
  t.is((await attack('fine')).body.result, 'fine', 'the process lives on');
  t.is((await attack('remember')).body.result, 'remembered');
  t.like((await attack('spentToken')).body.result, { code: 'INVALID_TOKEN' });
  t.deepEqual(await at.kv(manifest.slug), {});
});

test.serial('the walls round the process hold without the runtime', async (t) => {
  const server = createServer((_request, response) => response.end('inside')).listen(0, '127.0.0.1');
  t.teardown(() => void server.close());
  const { attack } = await attacker();
  const { body } = await attack('walls', { port: (server.address() as AddressInfo).port, pid: process.pid });
  t.truthy(body.result, JSON.stringify(body));
  const { sqlite, connect, others, uid, env, addon, ...rest } = body.result as Record<string, unknown>;
  t.deepEqual([...new Set(Object.values(rest))], ['ERR_ACCESS_DENIED'], JSON.stringify(rest));
  t.deepEqual(JSON.parse(String(env)), { UV_THREADPOOL_SIZE: '1', TZ: 'UTC' });
  t.is(addon, 'ERR_DLOPEN_DISABLED');
  t.not(sqlite, 'ALLOWED');
  // What a machine cannot do it does not claim: health shows the same.
  const walls = await ground.host.walls();
  if (walls.network === 'none') t.not(connect, 'ALLOWED');
  if (walls.user) t.not(uid, process.getuid?.());
  if (walls.processes === 'none' || walls.user) t.not(others, 'ALLOWED');
});
