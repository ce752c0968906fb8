/** Scripts: limits of time and output, and what is left behind. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { CommandHost } from '../src/commands/contract.ts';
import { powerPrograms } from '../src/commands/power.ts';
import { script } from '../src/commands/script.ts';
import { LimitedOutput, STREAM_LIMIT_BYTES } from '../src/process/output.ts';
import { temporaryFolder } from './harness.ts';

const host: CommandHost = {
  osType: 'linux',
  allowPower: false,
  killGraceMs: 200,
  refreshInventory: async () => ({}),
  setAutoUpdate: async () => undefined,
  setLogLevel: () => undefined,
  sendContent: () => Promise.reject(new Error('scripts send no files')),
  fetchContent: () => Promise.reject(new Error('scripts fetch no files')),
};
const run = (payload: Record<string, unknown>, signal = new AbortController().signal) =>
  script(payload, host, { commandId: `test-${crypto.randomUUID()}`, signal });

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A zombie that nobody collects is dead for our purpose. */
async function isRunning(pid: number): Promise<boolean> {
  if (!isAlive(pid)) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ') X');
  return !/^\) [ZX]/.test(stat.slice(stat.lastIndexOf(')')));
}

test('a time-out ends children that ignore SIGTERM and those that left the process group', async (t) => {
  const folder = await temporaryFolder(t);
  const pids = join(folder, 'pids');
  const content = `
    bash -c 'trap "" TERM; echo $BASHPID >> ${pids}; while :; do sleep 0.05; done' &
    setsid bash -c 'echo $BASHPID >> ${pids}; exec sleep 60' &
    echo before; wait`;
  const outcome = await run({ language: 'bash', content, timeoutSeconds: 0.8 });
  t.is(outcome.status, 'timeout');
  t.is(outcome.stdout, 'before\n');
  const started = (await readFile(pids, 'utf8')).trim().split('\n').map(Number);
  t.is(started.length, 2);
  for (const pid of started) while (await isRunning(pid)) await new Promise(setImmediate);
});

test('output beyond the limit is cut and the marker says by how much', async (t) => {
  const content = `head -c ${STREAM_LIMIT_BYTES + 1000} /dev/zero | tr '\\0' x`;
  const { stdout = '', status } = await run({ language: 'sh', content });
  t.is(status, 'completed');
  t.true(Buffer.byteLength(stdout) <= STREAM_LIMIT_BYTES);
  const [, left] = /^x+…\[truncated (\d+) bytes\]$/.exec(stdout) ?? [];
  t.is(stdout.indexOf('…') + Number(left), STREAM_LIMIT_BYTES + 1000);
});

test('a cut never splits a character', (t) => {
  const output = new LimitedOutput(100);
  output.add(Buffer.from('ä'.repeat(26).padStart(53, 'x')));
  output.add(Buffer.from('ä'.repeat(200)));
  t.regex(output.text(), /^x*ä+…\[truncated \d+ bytes\]$/);
});

test('output within the limit is unchanged', (t) => {
  const output = new LimitedOutput(4);
  output.add(Buffer.from('ab'));
  output.add(Buffer.from('cd'));
  t.is(output.text(), 'abcd');
});

test('a script runs in a private folder that is removed with all it wrote', async (t) => {
  const content = 'touch left; pwd; stat -c %a . "$0"';
  const { stdout = '' } = await run({ language: 'bash', content });
  const [folder = '', ...modes] = stdout.trim().split('\n');
  t.deepEqual(modes, ['700', '600']);
  await t.throwsAsync(readdir(folder), { code: 'ENOENT' });
});

test('a script that leaves a daemon behind ends when the script itself ends', async (t) => {
  const { stdout, status } = await run({ language: 'bash', content: 'sleep 3 & echo done', timeoutSeconds: 2.5 });
  t.is(status, 'completed');
  t.is(stdout, 'done\n');
});

test('content that does not match its hash is not run', async (t) => {
  const folder = await temporaryFolder(t);
  const mark = join(folder, 'mark');
  await writeFile(mark, 'untouched');
  const outcome = await run({ language: 'sh', content: `rm ${mark}`, contentSha256: '0'.repeat(64) });
  t.is(outcome.status, 'failed');
  t.is(await readFile(mark, 'utf8'), 'untouched');
});

test('languages: node runs, one the system lacks is named in the error', async (t) => {
  t.is((await run({ language: 'node', content: 'console.log(6 * 7)' })).stdout, '42\n');
  t.regex((await run({ language: 'cmd', content: 'dir' })).error ?? '', /cmd is not available on linux/);
});

test('a restart is at least a minute away, as asked for, and impossible in safe mode but on Windows', (t) => {
  t.deepEqual(powerPrograms('reboot', {}, 'linux'), [['shutdown', '-r', '+1']]);
  t.deepEqual(powerPrograms('schedule_reboot', { minutes: 30, message: 'soon' }, 'windows'), [
    ['shutdown.exe', '/r', '/t', '1800', '/c', 'soon'],
  ]);
  t.is(powerPrograms('reboot_safe_mode', {}, 'linux'), undefined);
});
