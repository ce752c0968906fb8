/** What hostile plugins try: in the interpreter, and as the process around it, which a real break-out would give them. */

/** What an attack may aim at; all of it is there, and open to the user that runs the plugins. */
export interface Targets {
  secretFile: string;
  folder: string;
  /** A Unix socket in the file system, and one in the abstract space. */
  socket: string;
  abstract: string;
  port: number;
  /** Where nothing listens, for a process that would tell something to another. */
  freePort: number;
  pid: number;
}
/** By what was tried: a text that begins with REACHED where it succeeded. */
export type Findings = Record<string, string>;

/** A plugin of one action, `go`. Anything that it gets hold of begins with REACHED. */
export const PLUGIN = `
const attempt = async (run) => { try { const got = await run(); return 'REACHED ' + typeof got; } catch (error) { return String(error && error.message).slice(0, 200); } };
const names = ['fs', 'node:fs', 'fs/promises', 'child_process', 'worker_threads', 'net', 'dgram', 'dns', 'http', 'https', 'http2', 'tls', 'os', 'vm', 'v8', 'module',
  'process', 'inspector', 'async_hooks', 'wasi', 'cluster', 'repl', 'sqlite', 'node:sqlite', 'node:sea', 'node:test', 'perf_hooks', 'std', 'qjs:std', 'qjs:os', 'bjson'];
export default { handlers: { async go({ input: targets }, ctx) {
  const found = {};
  for (const name of names) found['import ' + name] = await attempt(() => import(name));
  const paths = [targets.secretFile, 'file://' + targets.secretFile, '../'.repeat(20) + targets.secretFile.slice(1), './../../../../etc/passwd', '/proc/self/environ',
    'plugin/../../etc/passwd', '../sdk/index.js', './\\0/etc/passwd', 'data:text/javascript,export default 1', 'http://127.0.0.1:' + targets.port + '/', 'fault:', 'sdk/runtime/guest/main.js',
    'C:\\\\Windows\\\\win.ini', './..\\\\..\\\\secret'];
  for (const path of paths) found['import path ' + path.slice(0, 60)] = await attempt(() => import(path));
  const all = Object.getOwnPropertyNames((0, eval)('this'));
  for (const name of ['process', 'require', 'module', 'global', 'Buffer', 'fetch', 'WebSocket', 'WebAssembly', 'Worker', 'hostFunctions', 'std', 'os', 'print', 'load', 'loadScript', 'scriptArgs', 'navigator'])
    found['global ' + name] = all.includes(name) ? 'REACHED' : 'not there';
  for (const make of ['Function', '(async () => {}).constructor', '(function* () {}).constructor', 'setTimeout.constructor', 'ctx.kv.get.constructor', 'console.log.constructor', 'crypto.subtle.digest.constructor'])
    {
      const made = (0, eval)('(ctx) => (' + make + ')')(ctx)('return typeof process + typeof require + typeof hostFunctions')();
      const seen = typeof made === 'string' ? made : made.next ? made.next().value : await made;
      found['outer realm by ' + make] = seen === 'undefinedundefinedundefined' ? 'not there' : 'REACHED ' + seen;
    }
  // Objects of the other side would have a constructor that leads there.
  for (const [name, value] of Object.entries({ ctx, input: targets, url: new URL('https://a.example/'), error: await ctx.kv.get('x').catch((error) => error), signal: ctx.signal })) {
    let seen = value;
    for (let depth = 0; depth < 5 && seen; depth++) seen = Object.getPrototypeOf(seen);
    const home = (0, eval)('Object');
    found['prototype of ' + name] = value instanceof home && seen === null ? 'its own' : 'REACHED ' + typeof seen;
  }
  // Values that look like what host functions take, and do something else when they are read.
  const evil = { toString() { throw new Error('read'); }, valueOf() { throw new Error('read'); }, byteLength: 1e9, get then() { throw new Error('read'); } };
  for (const [name, run] of Object.entries({
    url: () => new URL(evil), digest: () => crypto.subtle.digest('SHA-256', evil), digestName: () => crypto.subtle.digest('md5', new Uint8Array(1)), random: () => crypto.getRandomValues(new Uint8Array(70_000)),
    timers: () => { for (let n = 0; n < 20_000; n++) setTimeout(() => {}, 1e9); }, formats: () => new Intl.DateTimeFormat('x'.repeat(1e5)), numbers: () => new Intl.NumberFormat('en', { maximumFractionDigits: 1e9 }),
    hmac: () => crypto.subtle.sign('HMAC', { type: 'secret' }, new Uint8Array(1)), deep: () => { let o = {}; for (let n = 0; n < 1e5; n++) o = { o }; return ctx.kv.set('x', o); } }))
    found['misuse ' + name] = await attempt(run);
  found['path in a stack'] = /\\/(tmp|root|home|work|usr|var)\\//.test(new Error('x').stack) ? 'REACHED ' + new Error('x').stack : 'none';
  for (const method of ['__proto__', 'constructor', 'toString', 'process.exit', 'db.query', 'fs.read'])
    found['host method ' + method] = await attempt(() => Promise.race([ctx.kv.get.call(null, method), new Promise((_r, reject) => setTimeout(() => reject(new Error('no answer')), 200))]));
  return found;
} } };
`;

/** Runs as the process around the interpreter would after a break-out: Node, without its permission model. */
export const BREAK_OUT = `
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { spawnSync } from 'node:child_process';
const targets = JSON.parse(process.argv.at(-1));
const found = {};
const attempt = (name, run) => { try { const got = run(); found[name] = 'REACHED ' + String(got).slice(0, 80); } catch (error) { found[name] = error.code ?? error.message; } };
const connect = (name, to) => new Promise((resolve) => {
  const socket = net.connect(to);
  const say = (text) => { found[name] = text; socket.destroy(); resolve(); };
  socket.on('connect', () => say('REACHED')).on('error', (error) => say(error.code)).setTimeout(1_500, () => say('timeout'));
});
for (const path of [targets.secretFile, '/etc/passwd', '/etc/hostname', '/proc/1/environ', '/proc/self/environ', '/proc/self/maps', '/root/.bashrc', '/sys/kernel/mm', '/dev/mem', '/run/secrets', '/old/etc/passwd'])
  attempt('read ' + path, () => fs.readFileSync(path).length);
for (const path of ['/proc', '/old', '/tmp', '/home', '/etc', '/sys', '/dev', '/run', '/var'])
  attempt('list ' + path, () => { const names = fs.readdirSync(path); if (names.length === 0) throw new Error('empty'); return names; });
for (const path of [targets.folder + '/written', '/written', '/package/written', '/runtime/written', '/tmp/written', '/dev/shm/written', '/bin/written'])
  attempt('write ' + path, () => { fs.writeFileSync(path, 'x'); return 'written'; });
for (const path of ['/package/plugin.json', '/runtime/package.json', '/bin/setpriv', '/node']) attempt('change ' + path, () => fs.appendFileSync(path, 'x') ?? 'changed');
await connect('tcp', { port: targets.port, host: '127.0.0.1' });
await connect('metadata', { port: 80, host: '169.254.169.254' });
await connect('postgres', { port: 5432, host: '127.0.0.1' });
await connect('unix socket', { path: targets.socket });
await connect('abstract socket', { path: '\\0' + targets.abstract });
for (const pid of [targets.pid, process.ppid]) attempt('signal ' + (pid === targets.pid ? 'server' : 'parent'), () => { if (pid === 0) throw new Error('not visible'); process.kill(pid, 0); return pid; });
const run = (name, file, args) => { const { status, error, stdout } = spawnSync(file, args, { timeout: 3_000 }); found[name] = status === 0 ? 'REACHED ' + stdout : String(error?.code ?? 'refused'); };
run('shell', '/bin/sh', ['-c', 'id']);
run('undo a mount', '/bin/umount', ['/package']);
run('become root', '/bin/setpriv', ['--reuid', '0', '--clear-groups', '/node', '-e', 'require("fs").readFileSync("/etc/shadow")']);
run('take capabilities', '/bin/setpriv', ['--inh-caps=+sys_admin', '--ambient-caps=+sys_admin', '/node', '-e', '0']);
attempt('chroot away', () => { process.chdir('/old/..'); const names = fs.readdirSync('.'); if (names.includes('package')) throw new Error('the same'); return names; });
found['environment'] = Object.keys(process.env).filter((name) => !['UV_THREADPOOL_SIZE', 'TZ'].includes(name)).length === 0 ? 'empty' : 'REACHED ' + Object.keys(process.env);
found['open files'] = (() => { const seen = []; const own = ['/', '/node', '/runtime', '/runtime/attack.mjs', '/package'].map((path) => { const stat = fs.statSync(path); return stat.dev + '/' + stat.ino; }); for (let fd = 3; fd < 64; fd++) { try { const stat = fs.fstatSync(fd); if ((stat.isFile() || stat.isDirectory()) && !own.includes(stat.dev + '/' + stat.ino)) seen.push([fd, stat.isFile(), stat.size, stat.mode.toString(8)]); } catch {} } return seen.length ? 'REACHED ' + seen : 'none'; })();
const uid = process.getuid();
console.log(JSON.stringify({ found, uid, interfaces: (() => { try { return Object.keys(os.networkInterfaces()).filter((name) => name !== 'lo'); } catch { return []; } })() }));
`;

/** Runs for one tenant and leaves a message in every place that it can think of; says when it has, and stays. */
export const TELL = `
import fs from 'node:fs';
import net from 'node:net';
const targets = JSON.parse(process.argv.at(-1));
const attempt = (run) => { try { run(); } catch {} };
for (const path of targets.places) attempt(() => fs.writeFileSync(path, 'message'));
for (const path of ['/package/plugin.json', '/runtime/package.json']) {
  attempt(() => fs.utimesSync(path, 1, 1)); attempt(() => fs.chmodSync(path, 0o777)); attempt(() => fs.symlinkSync('message', path + '.link'));
}
const listen = (at) => new Promise((resolve) => { const server = net.createServer((socket) => socket.end('message')); server.on('error', resolve).listen(at, resolve); });
await listen({ port: targets.freePort, host: '127.0.0.1' });
await listen({ path: '\\0' + targets.abstract + '-between' });
await listen({ path: '/tmp/between' });
process.title = 'message';
console.log('told');
setInterval(() => {}, 1_000);
`;

/** Runs for another tenant, and looks for it. */
export const LISTEN = `
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
const targets = JSON.parse(process.argv.at(-1));
const found = {};
for (const path of targets.places) try { found['file ' + path] = 'REACHED ' + fs.readFileSync(path, 'utf8'); } catch (error) { found['file ' + path] = error.code; }
for (const path of ['/package/plugin.json', '/runtime/package.json']) {
  try { const { mtimeMs, mode } = fs.statSync(path); found['times of ' + path] = mtimeMs === 1000 || (mode & 0o777) === 0o777 ? 'REACHED' : 'unchanged'; } catch (error) { found['times of ' + path] = error.code; }
  found['link at ' + path] = fs.existsSync(path + '.link') ? 'REACHED' : 'none';
}
const connect = (name, to) => new Promise((resolve) => {
  const socket = net.connect(to);
  const say = (text) => { found[name] = text; socket.destroy(); resolve(); };
  socket.on('connect', () => say('REACHED')).on('error', (error) => say(error.code)).setTimeout(1_500, () => say('timeout'));
});
await connect('port', { port: targets.freePort, host: '127.0.0.1' });
await connect('abstract socket', { path: '\\0' + targets.abstract + '-between' });
await connect('socket', { path: '/tmp/between' });
found['host name'] = /message/.test(os.hostname()) ? 'REACHED' : 'of the machine';
console.log(JSON.stringify(found));
`;

/** Files that both would reach if any were shared. */
export const PLACES = (folder: string): string[] =>
  ['/tmp', '/dev/shm', '/var/tmp', '/package', '/runtime', '/bin', '/old', '/proc', '', '/run', '/lib', folder].map(
    (at) => `${at}/between`,
  );
