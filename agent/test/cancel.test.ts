/** The agent stops what is not wanted any more, and says so. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { bench } from './harness.ts';

const script = (id: string, content: string) => ({ id, type: 'script', payload: { language: 'sh', content } });
const cancel = (id: string, commandId: string) => ({ id, type: 'cancel_command', payload: { commandId } });

test('a running script is ended with all it started, and one that waits never begins', async (t) => {
  const { server, run, folder } = await bench(t);
  const mark = join(folder, 'mark');
  // Eight run at a time: the ninth waits, and the wish to cancel does not wait behind them.
  for (let n = 1; n <= 9; n += 1) server.queue.push(script(`cancel-${n}`, `echo ${n} >> ${mark}; sleep 60 & wait`));
  run();
  await server.until(() => server.calls('/start').length === 8);
  server.queue.push(cancel('x-1', 'cancel-1'), cancel('x-9', 'cancel-9'), cancel('x-0', 'cancel-0'));
  t.like(await server.result('cancel-9'), { status: 'cancelled' });
  t.like(await server.result('cancel-1'), { status: 'cancelled', error: 'cancelled while it ran' });
  t.deepEqual((await server.result('x-1')).result, { state: 'stopping' });
  t.deepEqual((await server.result('x-9')).result, { state: 'stopping' });
  t.deepEqual((await server.result('x-0')).result, { state: 'unknown' });
  t.false((await readFile(mark, 'utf8')).split('\n').includes('9'));
  t.is(server.results('cancel-2').length, 0, 'its neighbours go on');
});

test('what has ended is not cancelled any more', async (t) => {
  const { server, run } = await bench(t);
  server.queue.push(script('cancel-1', 'exit 0'));
  run();
  await server.result('cancel-1');
  server.queue.push(cancel('x-1', 'cancel-1'));
  t.deepEqual((await server.result('x-1')).result, { state: 'ended' });
  t.deepEqual(
    server.results('cancel-1').map(({ status }) => status),
    ['completed'],
  );
});
