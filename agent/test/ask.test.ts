/** Asking real programs of the machine the test runs on. */
import test from 'ava';
import { askSystem } from '../src/process/ask.ts';
import { PATIENT } from './recorded.ts';

test('a program gets its arguments as they are and its input, and its exit code is an answer', async (t) => {
  const script = 'process.stdin.pipe(process.stdout); console.error(process.argv[1]); process.exitCode = 3';
  const answer = await askSystem(process.execPath, ['-e', script, '$HOME; "x"'], { signal: PATIENT, input: 'grüße' });
  t.deepEqual(answer, { code: 3, stdout: 'grüße', stderr: '$HOME; "x"\n' });
});

test('a program that does not read its input is no fault', async (t) => {
  const answer = await askSystem(process.execPath, ['-e', '0'], { signal: PATIENT, input: 'x'.repeat(1_000_000) });
  t.is(answer.code, 0);
});

test('a program that is missing is unsupported, and one that takes too long is ended', async (t) => {
  await t.throwsAsync(askSystem('no-such-program-here', [], { signal: PATIENT }), { code: 'UNSUPPORTED' });
  const limit = new AbortController();
  const asked = askSystem(process.execPath, ['-e', 'console.log(1); setInterval(() => 0, 1000)'], {
    signal: limit.signal,
  });
  limit.abort();
  await t.throwsAsync(asked, { code: 'TIMEOUT' });
  await t.throwsAsync(askSystem(process.execPath, [], { signal: limit.signal }), { code: 'TIMEOUT' });
});

test('a program that prints without end is cut off', async (t) => {
  const endless = 'const x = Buffer.alloc(1 << 20, 120); const f = () => process.stdout.write(x, f); f()';
  await t.throwsAsync(askSystem(process.execPath, ['-e', endless], { signal: PATIENT }), { code: 'TOO_LARGE' });
});
