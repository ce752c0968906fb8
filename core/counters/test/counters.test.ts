/** What both kinds of counters promise, asked of both. */
import { randomUUID } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { freePort } from '#test';
import type { Counters } from '../counters.ts';
import { createCounters } from '../create-counters.ts';
import { hasRedisServer, type OwnRedis, reached, startRedis } from './redis-server.ts';

/** A round moment at which a minute and an hour begin. */
const noon = Date.UTC(2031, 4, 5, 12);
const given = process.env.REDIS_URL;
const skipRedis = given === undefined && !hasRedisServer();
let own: OwnRedis | undefined;
let redisUrl = given ?? '';

test.before(async (t) => {
  if (skipRedis) return t.log('The Redis half is skipped: there is neither REDIS_URL nor a redis-server program.');
  if (given !== undefined) return;
  own = await startRedis(await freePort());
  redisUrl = own.url;
});
test.after.always(() => own?.stop());

interface Clock {
  ms: number;
}
type Body = (t: ExecutionContext, counters: Counters, clock: Clock) => Promise<void>;

function both(title: string, body: Body): void {
  const run = async (t: ExecutionContext, url: string | undefined) => {
    const clock = { ms: noon };
    const counters = createCounters({ redisUrl: url, prefix: `test:${randomUUID()}:`, now: () => clock.ms });
    try {
      await reached(counters);
      await body(t, counters, clock);
    } finally {
      await counters.close();
    }
  };
  test.serial(`in this process: ${title}`, (t) => run(t, undefined));
  if (!skipRedis) test.serial(`in Redis: ${title}`, (t) => run(t, redisUrl));
}

async function hits(counters: Counters, times: number, limit: number, windowSeconds = 60): Promise<number> {
  let allowed = 0;
  for (let i = 0; i < times; i++) if ((await counters.hit('k', limit, windowSeconds)).allowed) allowed++;
  return allowed;
}

both('the limit is allowed and the next hit is refused', async (t, counters) => {
  t.is(await hits(counters, 8, 5), 5);
});

both('every answer says how much is used and left', async (t, counters) => {
  t.deepEqual(await counters.hit('k', 2, 60), {
    allowed: true,
    limit: 2,
    remaining: 1,
    used: 1,
    resetAt: noon / 1000 + 60,
    retryAfterSeconds: 0,
  });
  t.like(await counters.hit('k', 2, 60), { allowed: true, remaining: 0, used: 2 });
  t.like(await counters.hit('k', 2, 60), { allowed: false, remaining: 0, used: 2 });
});

both('a single allowed hit is free again exactly one window later', async (t, counters, clock) => {
  clock.ms = noon + 40_000;
  await counters.hit('k', 1, 60);
  clock.ms = noon + 99_999;
  t.like(await counters.hit('k', 1, 60), { allowed: false, retryAfterSeconds: 1, resetAt: noon / 1000 + 100 });
  clock.ms = noon + 100_000;
  t.true((await counters.hit('k', 1, 60)).allowed);
});

both('the hits of the last window fade with time', async (t, counters, clock) => {
  clock.ms = noon + 59_000;
  t.is(await hits(counters, 10, 10), 10);
  clock.ms = noon + 60_000;
  t.is(await hits(counters, 10, 10), 0);
  clock.ms = noon + 90_000;
  t.is(await hits(counters, 10, 10), 5);
});

both('no fixed window ever holds more than the limit', async (t, counters, clock) => {
  const perWindow = new Map<number, number>();
  for (let second = 0; second < 240; second++) {
    clock.ms = noon + second * 1000;
    const allowed = await hits(counters, 2, 7);
    const window = Math.floor(second / 60);
    perWindow.set(window, (perWindow.get(window) ?? 0) + allowed);
  }
  t.is(perWindow.get(0), 7);
  for (const count of perWindow.values()) t.true(count <= 7 && count >= 5, `${count} in one window`);
});

both('refused hits do not count', async (t, counters, clock) => {
  t.is(await hits(counters, 3, 3), 3);
  clock.ms = noon + 59_000;
  t.is(await hits(counters, 50, 3), 0);
  clock.ms = noon + 60_000;
  t.is((await counters.peek('k', 3, 60)).used, 0, 'the last counted hit is a whole window ago');
  t.is(await hits(counters, 5, 3), 3);
});

both('waiting as told leads to an allowed hit, and a second less does not', async (t, counters, clock) => {
  for (const limit of [1, 2, 3, 10, 97]) {
    clock.ms = noon + 17_000;
    await counters.reset('k');
    await hits(counters, limit, limit);
    for (let round = 0; round < 5; round++) {
      const refused = await counters.hit('k', limit, 60);
      t.false(refused.allowed);
      t.true(refused.retryAfterSeconds >= 1);
      t.is(refused.resetAt, Math.ceil(clock.ms / 1000) + refused.retryAfterSeconds);
      clock.ms += (refused.retryAfterSeconds - 1) * 1000;
      t.false((await counters.peek('k', limit, 60)).allowed, `limit ${limit}, round ${round}: told to wait too long`);
      clock.ms += 1000;
      while ((await counters.hit('k', limit, 60)).remaining > 0);
    }
  }
});

both('peeking does not count', async (t, counters) => {
  for (let i = 0; i < 5; i++) t.like(await counters.peek('k', 1, 60), { allowed: true, remaining: 1, used: 0 });
  t.true((await counters.hit('k', 1, 60)).allowed);
  t.like(await counters.peek('k', 1, 60), { allowed: false, remaining: 0, used: 1 });
});

both('resetting a key frees it and no other', async (t, counters) => {
  await counters.hit('k', 1, 60);
  await counters.hit('other', 1, 60);
  await counters.reset('k');
  t.true((await counters.hit('k', 1, 60)).allowed);
  t.false((await counters.hit('other', 1, 60)).allowed);
});

both('a lowered limit holds at once', async (t, counters) => {
  await hits(counters, 10, 10);
  t.like(await counters.hit('k', 4, 60), { allowed: false, remaining: 0, used: 10 });
});

both('hits at the same time never exceed a large limit', async (t, counters) => {
  const answers = await Promise.all(Array.from({ length: 1200 }, () => counters.hit('k', 1000, 3600)));
  t.is(answers.filter(({ allowed }) => allowed).length, 1000);
  t.is(new Set(answers.filter(({ allowed }) => allowed).map(({ remaining }) => remaining)).size, 1000);
});

both('a clock that goes back does not give places away', async (t, counters, clock) => {
  await hits(counters, 5, 5);
  clock.ms = noon - 30_000;
  t.is(await hits(counters, 5, 5), 0);
});

both('meaningless limits and windows are refused', async (t, counters) => {
  for (const [limit, window] of [
    [0, 60],
    [1.5, 60],
    [Number.NaN, 60],
    [5, 0],
    [5, -1],
  ] as const) {
    await t.throwsAsync(counters.hit('k', limit, window), { instanceOf: RangeError });
  }
});

both('it answers a ping until it is closed', async (t, counters) => {
  await counters.ping();
  await counters.close();
  await t.throwsAsync(counters.ping(), { code: 'COUNTERS_UNAVAILABLE' });
  await t.throwsAsync(counters.hit('k', 1, 60), { code: 'COUNTERS_UNAVAILABLE' });
});
