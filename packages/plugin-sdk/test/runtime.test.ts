/** The plugin's own process, spoken to as a host does. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';

const SRC = join(import.meta.dirname, '../src');
interface Said {
  id: string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: string; message: string; afterMs?: number };
}

async function started(t: ExecutionContext, source: string) {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-runtime-'));
  const main = join(folder, 'index.js');
  await writeFile(main, source);
  const flags = ['--permission', `--allow-fs-read=${SRC}`, `--allow-fs-read=${folder}`];
  const child = spawn(process.execPath, [...flags, join(SRC, 'runtime/main.ts')], { env: {}, cwd: folder });
  const exited = new Promise((resolve) => child.once('exit', resolve));
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exited;
    await rm(folder, { recursive: true });
  });
  const heard: Said[] = [];
  const waiting = new Map<string, (said: Said) => void>();
  const onCall = { answer: (_said: Said): object => ({ result: null }) };
  const send = (message: object) => child.stdin.write(`${JSON.stringify(message)}\n`);
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = JSON.parse(line) as Said;
    heard.push(said);
    if (said.method) send({ id: said.id, ...onCall.answer(said) });
    else waiting.get(said.id)?.(said);
  });
  const ask = (id: string, method: string, params: object) =>
    new Promise<Said>((resolve) => {
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  const start = await ask('start', 'start', { protocol: 1, main });
  let n = 0;
  const invoke = (handler: string, input: unknown = {}, more: object = {}) => {
    const context = { config: { a: 1 }, org: { id: 'o', name: 'O', timezone: 'UTC' }, token: 't', timeoutMs: 60_000 };
    return ask(`i${++n}`, 'invoke', {
      kind: 'handler',
      handler,
      args: [input],
      invocationId: `i${n}`,
      ...context,
      ...more,
    });
  };
  return { start, invoke, heard, onCall, send, child, exited };
}

test('it says what it has, runs handlers, and asks the host with the token of the invocation', async (t) => {
  const { start, invoke, heard, onCall } = await started(
    t,
    `import { RetryableError, definePlugin } from '@quartermaster/plugin-sdk';
     export default definePlugin({ onInstall() {}, handlers: {
       async hello(event, ctx) { ctx.log.info('hi', { n: 1 }); return [event.n, ctx.config.a, (await ctx.kv.get('k')).value]; },
       later() { throw new RetryableError('busy', 700); },
       async denied(_e, ctx) { try { await ctx.kv.get('x') } catch (e) { return [e.name, e.code] } },
       spoken() { console.log('a', { b: 1 }); },
       large() { return 'x'.repeat(2_000_000); },
     } });`,
  );
  t.like(start.result, { apiVersion: '1.0.0', lifecycle: ['onInstall'] });
  onCall.answer = ({ method }) => ({ result: method === 'kv.get' ? { value: 'v', version: 1 } : null });
  t.deepEqual((await invoke('hello', { n: 5 })).result, [5, 1, 'v']);
  t.like(
    heard.find(({ method }) => method === 'log'),
    { token: 't', params: { level: 'info', message: 'hi', fields: { n: 1 } } },
  );
  t.deepEqual((await invoke('later')).error, { code: 'RETRYABLE', message: 'busy', afterMs: 700 });
  t.is((await invoke('toString')).error?.code, 'PERMANENT');
  t.is((await invoke('large')).error?.code, 'TOO_LARGE');
  await invoke('spoken');
  t.like(
    heard.findLast(({ method }) => method === 'log'),
    { params: { message: 'a {"b":1}' } },
  );
  onCall.answer = () => ({ error: { code: 'PERMISSION_DENIED', message: 'no' } });
  t.deepEqual((await invoke('denied')).result, ['HostError', 'PERMISSION_DENIED']);
});

test('the signal aborts when the host cancels, and the process ends with the host', async (t) => {
  const { invoke, send, child, exited, onCall } = await started(
    t,
    `export default { handlers: { wait: (_e, ctx) => new Promise((r) => { ctx.signal.onabort = () => r('aborted'); ctx.log.info('on'); }) } };`,
  );
  onCall.answer = () => {
    send({ method: 'cancel', params: { invocation: 'i1' } });
    return { result: null };
  };
  t.is((await invoke('wait')).result, 'aborted');
  child.stdin.end();
  t.is(await exited, 0);
});

test('what plugins have no business with is gone before their code is there', async (t) => {
  const { invoke } = await started(
    t,
    `const names = ['fs', 'node:net', 'tls', 'http', 'https', 'http2', 'dns', 'dgram', 'child_process', 'worker_threads', 'node:sqlite',
       'module', 'node:process', 'inspector', 'vm', 'v8', 'os', 'cluster', 'wasi', 'repl', 'node:test', 'node:sea', 'perf_hooks'];
     const code = (run) => Promise.resolve().then(run).then(() => 'allowed', (e) => e.code);
     export default { handlers: {
       async builtins() { return Promise.all(names.map((name) => code(() => import(name)))); },
       globals: () => [typeof fetch, typeof WebSocket, typeof process.kill, typeof process.getBuiltinModule, typeof process.binding,
         typeof process.stdout, typeof new Function('return process.exit')(), Object.keys(process.env).length],
       allowed: async () => (await import('node:crypto')).createHash('sha256').update('').digest('hex').length,
     } };`,
  );
  t.deepEqual([...new Set((await invoke('builtins')).result as string[])], ['ERR_ACCESS_DENIED']);
  t.deepEqual((await invoke('globals')).result, [...Array(7).fill('undefined'), 0]);
  t.is((await invoke('allowed')).result, 64);
});

test('a plugin without a default export does not start, and says why', async (t) => {
  const { start } = await started(t, 'export const a = 1;');
  t.regex(start.error?.message ?? '', /no default export/);
});
