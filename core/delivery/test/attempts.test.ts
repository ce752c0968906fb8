/** What holds for every delivery queue, one attempt after another: retries, giving up, leases, the breaker, retention. */
import test from 'ava';
import type { Outcome } from '../../contract/index.ts';
import { drainQueue } from '../drain.ts';
import { deliveryFigures } from '../figures.ts';
import { gateOf } from '../gate.ts';
import { pruneDeliveries } from '../prune.ts';
import { QueueStore } from '../store.ts';
import { openQueues, queueOf, type Send } from './queue-of-tests.ts';

const queues = await openQueues();
test.after.always(() => queues.stop());
const { platform, start, receiver, add, waiting, logOf, hurry, inPlatformRole } = queues;
const drain = (send: Send, more = {}) => drainQueue(start, 'tests', queueOf(send, more));
const delivered: Send = () => ({ result: 'delivered' });
const ROOM = { free: 10, othersFree: 10, quick: [] };

test.beforeEach(() => platform.sql('delete from test_queue'));

test.serial('messages of a receiver are sent in the order in which they became due, and leave the queue', async (t) => {
  const to = await receiver();
  await add(to, ['1', '2', '3', '4', '5']);
  const sent: string[] = [];
  await drain(({ text }) => {
    sent.push(text);
    return { result: 'delivered' };
  });
  t.deepEqual(sent, ['1', '2', '3', '4', '5']);
  t.deepEqual(await waiting(to), []);
});

test.serial('a message that fails is tried again after the delays of its queue, and then given up', async (t) => {
  const to = await receiver();
  await add(to, ['a']);
  const fail: Send = () => ({ result: 'failed', error: 'no answer' });
  for (const [attempts, seconds] of [
    [1, 10],
    [2, 100],
  ] as const) {
    await drain(fail);
    const [row] = await logOf(to);
    t.like(row, { status: 'retrying', attempts, error: 'no answer' });
    t.true(Math.abs((row?.seconds ?? 0) - seconds) <= seconds * 0.25, `${row?.seconds} s`);
    await drain(() => t.fail('it is not due') as never);
    await hurry(to);
  }
  await drain(fail);
  t.deepEqual(await waiting(to), []);
  const rows = await platform.sql('select status, attempts from test_log order by created_at desc limit 1');
  t.deepEqual(rows, [{ status: 'failed', attempts: 3 }]);
});

test.serial('the receiver may ask for a longer delay; one that was not tried at all counts no attempt', async (t) => {
  const to = await receiver();
  await add(to, ['a']);
  await drain(() => ({ result: 'failed', retryAfter: 500 }));
  t.is(Math.round((await logOf(to))[0]?.seconds ?? 0), 500);
  await hurry(to);
  await drain(() => ({ result: 'released', retryIn: 50 }));
  const [row] = await platform.sql<{ attempts: number }>('select attempts from test_queue where receiver_id = $1', [
    to,
  ]);
  t.is(row?.attempts, 1);
  await hurry(to);
  await drain(() => ({ result: 'rejected' }));
  t.deepEqual(await waiting(to), []);
});

test.serial(
  'a message has the number of attempts that it brings along; an error in `send` is a failed attempt',
  async (t) => {
    const to = await receiver();
    await add(to, ['a']);
    await drain(
      () => {
        throw new Error('a fault of ours');
      },
      { name: 'tests-once', message: { columns: `q.receiver_id as "receiverId", q.body as text, 1 as "maxAttempts"` } },
    );
    t.deepEqual(await waiting(to), []);
  },
);

test.serial(
  'what a process held that has died is sent again when its lease ends, and its late result is ignored',
  async (t) => {
    const to = await receiver();
    await add(to, ['a']);
    const store = new QueueStore(queueOf(delivered), gateOf(start.services.modules, 'tests'));
    const { send } = await inPlatformRole((ctx) => store.claim(ctx, ROOM));
    t.is(send.length, 1);
    await drain(() => t.fail('the lease holds') as never);
    await platform.sql(`update test_queue set due_at = now(), leased_until = now() where receiver_id = $1`, [to]);
    await drain(() => ({ result: 'failed', error: 'second' }));
    const [message] = send;
    if (!message) throw new Error('nothing was claimed');
    const late = { message, status: 'delivered' as const, seconds: null, outcome: { result: 'delivered' as const } };
    await inPlatformRole((ctx) => store.write(ctx, [late]));
    t.deepEqual(await waiting(to), ['a']);
    t.like((await logOf(to))[0], { status: 'retrying', error: 'second' });
  },
);

test.serial(
  'nothing is sent to a receiver that is closed, and nothing for organizations that have the module off',
  async (t) => {
    const [closed, open] = [await receiver(), await receiver()];
    const orgId = crypto.randomUUID();
    await platform.sql('update test_receivers set open = false where id = $1', [closed]);
    await add(closed, ['a']);
    await add(open, ['b'], orgId);
    await add(open, ['c']);
    queues.without.push(orgId);
    const sent: string[] = [];
    const note: Send = ({ text }) => {
      sent.push(text);
      return { result: 'delivered' };
    };
    await drain(note);
    t.deepEqual(sent, ['c']);
    queues.without.length = 0;
    await drain(note);
    t.deepEqual(sent, ['c', 'b']);
    t.deepEqual(await waiting(closed), ['a']);
  },
);

test.serial('what is paused after it was claimed is not sent, counts no attempt, and is sent later', async (t) => {
  const to = await receiver();
  const orgId = crypto.randomUUID();
  await add(to, ['a'], orgId);
  const prepare = async (_ctx: unknown, messages: object[]) => {
    queues.without.push(orgId);
    return { send: messages };
  };
  await drain(() => t.fail('it is paused') as never, { prepare } as never);
  const [row] = await platform.sql('select attempts, lease from test_queue where receiver_id = $1', [to]);
  t.deepEqual(row, { attempts: 0, lease: null });
  queues.without.length = 0;
  await drain(delivered);
  t.deepEqual(await waiting(to), []);
});

test.serial('messages of a partner are paused like those of an organization', async (t) => {
  const to = await receiver();
  const partnerId = crypto.randomUUID();
  await add(to, ['a']);
  await platform.sql('update test_queue set partner_id = $2 where receiver_id = $1', [to, partnerId]);
  queues.without.push(partnerId);
  const more = { name: 'tests-partners', tenants: ['org_id', 'partner_id'] as const };
  await drain(() => t.fail('it is paused') as never, more);
  t.deepEqual(await waiting(to), ['a']);
  queues.without.length = 0;
  await drain(delivered, more);
  t.deepEqual(await waiting(to), []);
});

test.serial('what has been paused for longer than its queue allows is given up, and nothing else', async (t) => {
  const [to, other] = [await receiver(), await receiver()];
  const orgId = crypto.randomUUID();
  await add(to, ['old', 'new'], orgId);
  await add(other, ['of another'], crypto.randomUUID());
  await platform.sql(`update test_queue set created_at = now() - interval '3 hours', due_at = now() + interval '1 day'
    where body in ('old', 'of another')`);
  queues.without.push(orgId);
  await drain(() => t.fail('nothing is due') as never, {
    maxPausedHours: 2,
    onExpired: `,
cancelled as (update test_log l set status = 'failed', error = 'paused for too long' from expired x where l.id = x.id)`,
  });
  queues.without.length = 0;
  t.deepEqual([await waiting(to), await waiting(other)], [['new'], ['of another']]);
  const rows = await platform.sql(`select status from test_log where error = 'paused for too long'`);
  t.deepEqual(rows, [{ status: 'failed' }]);
});

test.serial('what is prepared can be completed, postponed or left out', async (t) => {
  const to = await receiver();
  await add(to, ['later', 'never', 'now']);
  const until = new Date(Date.now() + 3_600_000);
  const sent: string[] = [];
  await drain(
    ({ text }) => {
      sent.push(text);
      return { result: 'delivered' };
    },
    {
      prepare: async (_ctx: unknown, messages: { id: string; text: string }[]) => ({
        send: messages.filter(({ text }) => text === 'now').map((one) => ({ ...one, text: 'now, completed' })),
        postponed: messages.filter(({ text }) => text === 'later').map(({ id }) => ({ id, until })),
      }),
    },
  );
  t.deepEqual(sent, ['now, completed']);
  t.deepEqual(await waiting(to), ['later']);
  t.true(((await logOf(to))[0]?.seconds ?? 0) > 3_500);
});

test.serial(
  'after five connection errors in a row a host is paused, for all receivers there; one connection ends it',
  async (t) => {
    const [first, second, other] = [
      await receiver('dead.test'),
      await receiver('dead.test'),
      await receiver('well.test'),
    ];
    const unreachable: Send = ({ host }): Outcome =>
      host === 'dead.test' ? { result: 'failed', connected: false } : { result: 'delivered', connected: true };
    await add(first, ['a', 'b', 'c', 'd', 'e']);
    await drain(unreachable);
    await add(second, ['f']);
    await add(other, ['g']);
    await drain(unreachable);
    t.deepEqual([await waiting(second), await waiting(other)], [['f'], []]);
    await platform.sql(`update delivery_hosts set paused_until = now() where host = 'dead.test'`);
    await drain(() => ({ result: 'delivered', connected: true }));
    t.deepEqual(await waiting(second), []);
    t.deepEqual(await platform.sql(`select from delivery_hosts`), []);
  },
);

test.serial('figures say what waits and what failed, and what ended is removed after its time', async (t) => {
  await platform.sql('delete from test_log');
  const to = await receiver();
  await add(to, ['a']);
  await drain(() => ({ result: 'rejected' }));
  await add(to, ['b', 'c']);
  const queue = queueOf(delivered);
  const figures = await inPlatformRole((ctx) => deliveryFigures(ctx, queue));
  t.like(figures, { pending: 2, failed: 1 });
  t.true(figures.oldestAt instanceof Date);
  await platform.sql(`update test_log set created_at = now() - interval '8 days'`);
  await platform.sql(
    `insert into delivery_hosts (queue, host, failures, paused_until)
     values ('tests', 'old.test', 5, now() - interval '2 days'), ('tests', 'new.test', 5, now())`,
  );
  t.false(await inPlatformRole((ctx) => pruneDeliveries(ctx, queue)));
  t.deepEqual(await platform.sql('select status from test_log'), [{ status: 'pending' }, { status: 'pending' }]);
  t.deepEqual(await platform.sql('select host from delivery_hosts'), [{ host: 'new.test' }]);
});
