/** Hints: what one process tells, the others hear, through the database or through Redis. */
import test from 'ava';
import { createTestDatabase } from '#test';
import { openDatabase } from '../../database/pools.ts';
import { createLog } from '../../log.ts';
import { openHints } from '../hints.ts';
import { openNotices } from '../notices.ts';

const log = createLog('silent');

async function two(redis: { url: string; channel: string } | null) {
  const created = await createTestDatabase();
  const database = openDatabase({ url: created.url, poolSize: 2, onError: () => undefined });
  const join = async () => {
    const notices = await openNotices(created.url, log);
    const subscribed = new Promise<void>((resolve) => notices.onLost(resolve));
    const hints = openHints(database.platform, notices, log, redis);
    const heard: string[] = [];
    const watchers: (() => void)[] = [];
    notices.on('greeting', (payload) => {
      heard.push(payload);
      for (const watch of watchers) watch();
    });
    const has = (count: number) =>
      new Promise<void>((resolve) => {
        const watch = () => heard.length >= count && resolve();
        watchers.push(watch);
        watch();
      });
    return { notices, hints, heard, has, subscribed };
  };
  const [one, other] = [await join(), await join()];
  const close = async () => {
    for (const { notices, hints } of [one, other]) {
      await hints.close();
      await notices.close();
    }
    await database.close();
    await created.drop();
  };
  return { one, other, close };
}

test('a hint reaches the other process once, and not the one that told it', async (t) => {
  const { one, other, close } = await two(null);
  t.teardown(close);
  const texts = Array.from({ length: 1200 }, (_, n) => `it's ${n} \\ "quoted"`);
  for (const text of texts) one.hints.tell('greeting', text);
  await one.hints.flush();
  await other.has(texts.length);
  t.deepEqual(other.heard, texts);
  other.hints.tell('greeting', 'back');
  await one.has(1);
  t.deepEqual(one.heard, ['back']);
});

test('with a Redis that is away the database carries them', async (t) => {
  const { one, other, close } = await two({ url: 'redis://127.0.0.1:1', channel: 'nowhere' });
  t.teardown(close);
  one.hints.tell('greeting', 'hello');
  await other.has(1);
  t.deepEqual(other.heard, ['hello']);
});

test('with a Redis they arrive once, whichever way they take', async (t) => {
  // Without REDIS_URL this is the case above once more: a Redis that is not there.
  const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:1';
  const { one, other, close } = await two({ url, channel: `test:${crypto.randomUUID()}` });
  t.teardown(close);
  if (process.env.REDIS_URL) await Promise.all([one.subscribed, other.subscribed]);
  for (let n = 0; n < 50; n++) {
    one.hints.tell('greeting', String(n));
    await one.hints.flush();
  }
  await other.has(50);
  t.deepEqual(
    other.heard,
    Array.from({ length: 50 }, (_, n) => String(n)),
  );
});
