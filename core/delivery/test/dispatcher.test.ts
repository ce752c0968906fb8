/** What holds for every delivery queue while processes send from it: limits, fair turns, slow receivers, stopping. */
import { setTimeout as pause } from 'node:timers/promises';
import test from 'ava';
import { Dispatcher } from '../dispatcher.ts';
import { openQueues, queueOf, type Send, until } from './queue-of-tests.ts';

const queues = await openQueues();
test.after.always(() => queues.stop());
const { start, receiver, add, waiting } = queues;
const many = (count: number) => Array.from({ length: count }, (_, n) => String(n).padStart(3, '0'));

/** Receivers that answer when they are told to; `open` and `most` count the attempts at one time. */
function holding() {
  const held = new Map<string, { open: number; most: number; sent: string[] }>();
  const release = Promise.withResolvers<void>();
  const of = (id: string) => {
    const one = held.get(id) ?? { open: 0, most: 0, sent: [] };
    held.set(id, one);
    return one;
  };
  const send =
    (waits: (receiverId: string) => boolean): Send =>
    async ({ receiverId, text }) => {
      const one = of(receiverId);
      one.open += 1;
      one.most = Math.max(one.most, one.open);
      one.sent.push(text);
      await (waits(receiverId) ? release.promise : pause(5));
      one.open -= 1;
      return { result: 'delivered' };
    };
  return { of, send, release: () => release.resolve() };
}

test.serial('receivers that hang have their share and no more, and the others do not wait for them', async (t) => {
  const [dead, alsoDead, thirdDead, quick] = await Promise.all([receiver(), receiver(), receiver(), receiver()]);
  const { of, send, release } = holding();
  const dispatcher = new Dispatcher(start, 'tests', queueOf(send((id) => id !== quick)));
  await add(quick, ['first']);
  start.hint('tests.due', '');
  await until('the quick receiver is known', () => of(quick).sent.length === 1);
  for (const id of [dead, alsoDead, thirdDead]) await add(id, many(5));
  start.hint('tests.due', '');
  const open = () => [dead, alsoDead, thirdDead].reduce((sum, id) => sum + of(id).open, 0);
  await until('half of the process is taken', () => open() === 4);
  await add(quick, many(10));
  start.hint('tests.due', '');
  await until('the quick receiver has all', () => of(quick).sent.length === 11);
  t.is(open(), 4);
  release();
  await until('the others have all in the end', async () => (await waiting(thirdDead)).length === 0);
  await dispatcher.stop();
});

test.serial(
  'two processes share a queue: each message is sent once, and the limit of a partition holds over both',
  async (t) => {
    const ids = await Promise.all([receiver(), receiver(), receiver()]);
    const { of, send } = holding();
    const queue = queueOf(send(() => false));
    for (const id of ids) await add(id, many(40));
    const processes = [new Dispatcher(start, 'tests', queue), new Dispatcher(start, 'tests', queue)];
    await until('all are sent', async () => (await Promise.all(ids.map(waiting))).every(({ length }) => length === 0));
    await Promise.all(processes.map((one) => one.stop()));
    for (const id of ids) {
      t.deepEqual(of(id).sent.toSorted(), many(40));
      t.true(of(id).most <= 2, `${of(id).most} at a time`);
    }
  },
);

test.serial(
  'a process that stops aborts what takes too long, and gives it back without counting an attempt',
  async (t) => {
    const to = await receiver();
    await add(to, ['a']);
    let begun = false;
    const dispatcher = new Dispatcher(
      start,
      'tests',
      queueOf(async (_message, signal) => {
        begun = true;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        return { result: 'released' };
      }),
    );
    await until('it is being sent', () => begun);
    await dispatcher.stop();
    const rows = await queues.platform.sql(
      'select attempts, lease, due_at <= now() as due from test_queue where receiver_id = $1',
      [to],
    );
    t.deepEqual(rows, [{ attempts: 0, lease: null, due: true }]);
  },
);
