/** A runtime that plays by no rules, in place of ours: what plugin code would be that had broken out of it. */
import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Broker, type PluginEvents } from '../../services/running/broker/broker.ts';
import type { StartRequest } from '../../services/running/broker/wire.ts';
import type { Ground } from '../ground.ts';

const SOURCE = `
import { createInterface } from 'node:readline';
import fs from 'node:fs';
import net from 'node:net';
import { spawnSync } from 'node:child_process';
import { Worker } from 'node:worker_threads';
const say = (message) => process.stdout.write((typeof message === 'string' ? message : JSON.stringify(message)) + '\\n');
const attempt = (run) => { try { run(); return 'ALLOWED'; } catch (error) { return error.code ?? error.message; } };
const connect = (port) => new Promise((resolve) => {
  const socket = net.connect(port, '127.0.0.1');
  socket.on('connect', () => resolve('ALLOWED')).on('error', (error) => resolve(error.code));
});
let spent = '';
const heard = new Map();
const attacks = {
  fine: () => 'fine',
  forgedId: ({ token }) => say({ id: 'h999', token, result: 1 }),
  forgedToken: ({ id }) => say({ id, token: 'forged', result: 1 }),
  pollution: ({ id, token }) => say('{"id":"' + id + '","token":"' + token + '","result":{"a":[{"__proto__":{"polluted":true}}]}}'),
  constructorKey: ({ id, token }) => say('{"id":"' + id + '","token":"' + token + '","result":{"constructor":{"prototype":{"polluted":true}}}}'),
  garbage: () => say('this is no JSON'),
  unknown: () => say({ hello: 'there' }),
  large: () => process.stdout.write('x'.repeat(10_000_000)),
  flood: ({ token }) => { for (let n = 0; n < 200_000; n++) say({ id: 'c' + n, method: 'kv.get', token, params: { key: 'a' } }); },
  unknownMethod: ({ token }) => new Promise((resolve) => { heard.set('u1', resolve); say({ id: 'u1', method: 'root', token, params: 'x'.repeat(500_000) }); }),
  largeCall: ({ token }) => new Promise((resolve) => { heard.set('l1', resolve); say({ id: 'l1', method: 'kv.get', token, params: { key: 'x'.repeat(500_000) } }); }),
  deaf: async ({ token }) => {
    await new Promise((resolve) => { heard.set('d', resolve); say({ id: 'd', method: 'kv.set', token, params: { key: 'a', value: 'x'.repeat(60_000) } }); });
    lines.pause(); process.stdin.pause();
    for (let n = 0; ; n++) { for (let k = 0; k < 30; k++) say({ id: 'c' + n + k, method: 'kv.get', token, params: { key: 'a' } }); await new Promise((on) => setTimeout(on, 300)); }
    return new Promise(() => undefined);
  },
  late: ({ id, token }) => { setTimeout(() => say({ id, token, result: 'late' }), 400); },
  remember: ({ token }) => { spent = token; return 'remembered'; },
  spentToken: () => new Promise((resolve) => { heard.set('c1', resolve); say({ id: 'c1', method: 'kv.set', token: spent, params: { key: 'a', value: 1 } }); }),
  walls: async ({ port, pid }) => ({
    passwd: attempt(() => fs.readFileSync('/etc/passwd')), environ: attempt(() => fs.readFileSync('/proc/self/environ')),
    parent: attempt(() => fs.readFileSync('/proc/1/environ')), write: attempt(() => fs.writeFileSync('/tmp/plugin-was-here', 'x')),
    fork: attempt(() => spawnSync('/bin/true')), worker: attempt(() => new Worker('0', { eval: true })),
    addon: attempt(() => process.dlopen({ exports: {} }, '/tmp/x.node')), binding: attempt(() => process.binding('spawn_sync')),
    env: JSON.stringify(process.env), sqlite: attempt(() => process.getBuiltinModule('node:sqlite').DatabaseSync),
    connect: await connect(port), others: attempt(() => process.kill(pid, 0)), uid: process.getuid(),
  }),
};
const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, method, params, ...rest } = JSON.parse(line);
  if (method === 'start') return say({ id, token: 'start', result: { apiVersion: '1.0.0', handlers: ['go'], lifecycle: [] } });
  if (method === 'stop') process.exit(0);
  if (method === undefined) return heard.get(id)?.(rest.error ?? rest.result);
  if (method !== 'invoke') return;
  const { token, kind, args } = params;
  if (kind === 'lifecycle') return say({ id, token, result: null });
  const result = await attacks[args[0].input.attack]({ id, token, ...args[0].input });
  if (result !== undefined && typeof result !== 'boolean') say({ id, token, result });
});
`;

/** From now on the plugins of this ground run on it, behind the same walls. */
export async function useHostileRuntime(ground: Ground): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-hostile-'));
  await chmod(folder, 0o755);
  const code = join(folder, 'code');
  await mkdir(code, { recursive: true });
  await writeFile(join(code, 'main.mjs'), SOURCE);
  const inner = new Broker({ place: folder, partnerShare: 1, processors: 1 }, (text) => process.stderr.write(text));
  const runtime = { kind: 'node', folder: code, main: 'main.mjs' } as const;
  const broker = {
    isReady: () => inner.isReady(),
    start: (request: StartRequest, events: PluginEvents) => inner.start({ ...request, runtime }, events),
    stop: () => inner.stop(),
  };
  Object.assign(ground.host, { broker });
}
