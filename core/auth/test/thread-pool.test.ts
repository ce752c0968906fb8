/** The pool that hashing shares has the size that hashing was told. */
import { execFile } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { readConfig } from '#config';

const run = promisify(execFile);

test('by default one hash more than processors can run, and two threads are left for files and names', (t) => {
  t.is(readConfig({}).threadPoolSize, Math.max(4, availableParallelism() + 3));
  t.is(readConfig({ UV_THREADPOOL_SIZE: '7' }).threadPoolSize, 7);
});

test('a size that is set while the process starts is the size of its pool', async (t) => {
  // Only there can the threads of a process be read.
  if (process.platform !== 'linux') return t.pass();
  const { UV_THREADPOOL_SIZE: _, ...env } = process.env;
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'thread-pool-child.ts'), '9'], { env });
  t.is(stdout.trim(), '9');
});
