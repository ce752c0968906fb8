/** The plugin's own process, spoken to as a host does. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type ExecutionContext } from 'ava';
import { exitCodes } from '../src/runtime/exit-codes.ts';

const SRC = join(import.meta.dirname, '../src');
interface Said {
  id: string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { code: string; message: string; afterMs?: number };
}

const RUNTIMES = ['interpreter', 'node'] as const;
type Runtime = (typeof RUNTIMES)[number];
/** Where npm has put what the interpreter needs. */
const MODULES = join(import.meta.dirname, '../../../node_modules');

async function started(t: ExecutionContext, runtime: Runtime, source: string, files: Record<string, string> = {}) {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-runtime-'));
  const all: Record<string, string> = { 'index.js': source, ...files };
  const [main = ''] = Object.keys(files).includes('index.cjs') ? ['index.cjs'] : Object.keys(all);
  for (const [name, text] of Object.entries(all)) await writeFile(join(folder, name), text);
  const flags = [
    '--permission',
    ...[SRC, folder, MODULES].map((path) => `--allow-fs-read=${path}`),
    '--stack-size=3500',
  ];
  const entry = [join(SRC, 'runtime', runtime, 'main.ts'), folder, '64', '1000'];
  const child = spawn(process.execPath, [...flags, ...entry], { env: {}, cwd: folder });
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
    return ask(`h${++n}`, 'invoke', {
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

for (const runtime of RUNTIMES) {
  test(`${runtime}: it says what it has, runs handlers, and asks the host with the token of the invocation`, async (t) => {
    const { start, invoke, heard, onCall } = await started(
      t,
      runtime,
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

  test(`${runtime}: the signal aborts when the host cancels, and the process ends with the host`, async (t) => {
    const { invoke, send, child, exited, onCall } = await started(
      t,
      runtime,
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

  test(`${runtime}: a plugin without a default export does not start, and says why`, async (t) => {
    const { start } = await started(t, runtime, 'export const a = 1;');
    t.regex(start.error?.message ?? '', /no default export/);
  });

  test(`${runtime}: CommonJS files load, with files of the package and the SDK`, async (t) => {
    const { invoke } = await started(t, runtime, '', {
      'index.cjs': `const { PermanentError, definePlugin } = require('@quartermaster/plugin-sdk');
        const { name } = require('./own.cjs');
        module.exports = definePlugin({ handlers: { go: () => [name, new PermanentError('x').code] } });`,
      'own.cjs': `exports.name = 'own';`,
    });
    t.deepEqual((await invoke('go')).result, ['own', 'PERMANENT']);
  });

  test(`${runtime}: what the README lists is there and does what it does elsewhere`, async (t) => {
    const { invoke } = await started(
      t,
      runtime,
      `export default { handlers: { async go() {\n${OFFERED}\nreturn said; } } };`,
    );
    const said = (await invoke('go')).result;
    // What the same lines give on this Node.
    const here = await (
      new Function(`return (async () => {\n${OFFERED}\nreturn said; })()`) as () => Promise<unknown>
    )();
    t.deepEqual(said, JSON.parse(JSON.stringify(here)));
  });
}

/** One line for each thing that the runtimes offer. */
const OFFERED = `
const said = {};
const hex = (bytes) => [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
const named = (run) => { try { return run(); } catch (error) { return error.name; } };
const url = new URL('/a/../b?x=1&x=2#h', 'https://me:pw@example.com:8443/z');
url.searchParams.append('y', 'ä ö+&'); url.searchParams.delete('x', '1'); url.hash = '#new'; url.port = '443';
said.url = [url.href, url.origin, url.host, url.pathname, url.search, url.searchParams.get('y'), JSON.stringify({ url }), String(url)];
said.urls = [URL.canParse('nope'), URL.parse('nope'), named(() => new URL('nope')), new URL('HTTP://EXAMPLE.com:80/ä').href];
const query = new URLSearchParams('?a=1&b=%20+%zz&a=2&c'); query.set('a', '3'); query.sort();
said.query = [String(query), [...query], query.has('c', ''), query.size, String(new URLSearchParams({ q: "it's (fine)!*~" }))];
const text = 'aé€😀\\ud800';
said.text = [hex(new TextEncoder().encode(text)), new TextDecoder().decode(new Uint8Array([0xef, 0xbb, 0xbf, 0x61, 0xff, 0xe2, 0x82])),
  named(() => new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xc0, 0x80])))];
const streamed = new TextDecoder();
said.stream = streamed.decode(new Uint8Array([0xe2, 0x82]), { stream: true }) + streamed.decode(new Uint8Array([0xac]));
said.base64 = [btoa('hello'), btoa('hell'), btoa('hel'), atob('aGVsbG8='), atob(' aGVs bA '), named(() => btoa('€')), named(() => atob('a'))];
said.digests = [];
for (const name of ['SHA-1', 'SHA-256', 'SHA-384', 'SHA-512']) said.digests.push(hex(await crypto.subtle.digest(name, new TextEncoder().encode('abc'))));
const key = await crypto.subtle.importKey('raw', new TextEncoder().encode('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
const mac = await crypto.subtle.sign('HMAC', key, new TextEncoder().encode('data'));
said.hmac = [hex(mac), await crypto.subtle.verify('HMAC', key, mac, new TextEncoder().encode('data')),
  await crypto.subtle.verify('HMAC', key, mac, new TextEncoder().encode('other'))];
said.random = [/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID()), crypto.getRandomValues(new Uint16Array(8)).length];
said.timers = await new Promise((resolve) => { const seen = [];
  const every = setInterval((n) => { seen.push(n); if (seen.length === 3) { clearInterval(every); resolve(seen); } }, 1, 'tick');
  clearTimeout(setTimeout(() => seen.push('never'), 0)); queueMicrotask(() => seen.push('micro')); });
const ending = new AbortController(); const heard = [];
ending.signal.addEventListener('abort', (event) => heard.push(event.type), { once: true }); ending.signal.onabort = () => heard.push('on');
ending.abort(); ending.abort();
said.abort = [heard.sort(), ending.signal.aborted, ending.signal.reason.name, AbortSignal.any([ending.signal]).aborted, named(() => ending.signal.throwIfAborted()),
  await new Promise((resolve) => AbortSignal.timeout(1).addEventListener('abort', ({ target }) => resolve(target.reason.name)))];
const target = new EventTarget(); target.addEventListener('x', (event) => event.preventDefault());
said.events = [target.dispatchEvent(new Event('x', { cancelable: true })), target.dispatchEvent(new Event('y'))];
const round = { at: new Date(5), map: new Map([[1, new Set([2])]]), bytes: new Uint8Array([1, 2]), list: [1, , 3] }; round.self = round;
const clone = structuredClone(round);
said.clone = [clone.at.getTime(), [...clone.map.get(1)], [...clone.bytes], clone.self === clone, clone.list.length, named(() => structuredClone(() => 1))];
said.formats = [new Intl.DateTimeFormat('de-DE', { timeZone: 'Europe/Berlin', dateStyle: 'full', timeStyle: 'short' }).format(new Date(0)),
  new Intl.NumberFormat('en-IN').format(12345678.9), (1234.5).toLocaleString('fr-FR'), new Date(0).toLocaleDateString('en-GB', { timeZone: 'UTC' }),
  new Date(0).toLocaleString('en-US', { timeZone: 'America/New_York' }), named(() => new Intl.DateTimeFormat('en', { timeZone: 'No/Where' })),
  new Intl.DateTimeFormat('en', { timeZone: 'UTC' }).formatToParts(0).map(({ type }) => type)];
said.time = [typeof performance.now(), new Date(2026, 0, 1).getTimezoneOffset() * 0];
said.language = [Object.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even')), [3, 1].toSorted(), 10n ** 20n + '', /(?<year>\\d+)/u.exec('in 2026').groups.year,
  new Set([1, 2]).union(new Set([3])).size, 'é'.normalize('NFD').length, [1, [2, [3]]].flat(2), typeof WeakRef, typeof Promise.withResolvers];
`;

test('node: what plugins have no business with is gone before their code is there', async (t) => {
  const { invoke } = await started(
    t,
    'node',
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

test('interpreter: a program too deep is an error, and one too large or too long ends the process', async (t) => {
  const { invoke, exited } = await started(
    t,
    'interpreter',
    `export default { handlers: { deep() { const f = () => f() + 1; return f(); }, nested: () => JSON.parse('['.repeat(100_000)),
       large() { const all = []; for (;;) all.push({ a: 1 }); } } };`,
  );
  t.regex((await invoke('deep')).error?.message ?? '', /call stack/);
  t.truthy((await invoke('nested')).error);
  void invoke('large');
  t.is(await exited, exitCodes.memory);
  for (const body of [
    '(() => { for (;;); })()',
    `/^(a+)+$/.test('a'.repeat(40) + 'b')`,
    'new Promise(() => { const on = () => queueMicrotask(on); on(); })',
  ]) {
    const endless = await started(t, 'interpreter', `export default { handlers: { go() { return ${body}; } } };`);
    void endless.invoke('go');
    t.is(await endless.exited, exitCodes.cpu, body);
  }
});

test('interpreter: work between calls and at the start is bounded as a call is', async (t) => {
  const idle = await started(
    t,
    'interpreter',
    `export default { handlers: { go() { setInterval(() => { const end = Date.now() + 50; while (Date.now() < end); }, 1); return 'answered'; } } };`,
  );
  t.is((await idle.invoke('go')).result, 'answered');
  t.is(await idle.exited, exitCodes.cpu);
});
