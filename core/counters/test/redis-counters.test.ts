/** What only counters in Redis do: share, expire, and fail fast when Redis is away. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { Redis } from 'ioredis';
import { freePort } from '#test';
import type { Counters } from '../counters.ts';
import { createCounters } from '../create-counters.ts';
import { hasRedisServer, reached, startRedis } from './redis-server.ts';

/** The bound is a second; a busy machine gets more room. */
const BUSY_MS = 5000;
// These tests stop and start Redis, so the one of REDIS_URL will not do.
const withRedis = hasRedisServer() ? test : test.skip;
if (!hasRedisServer()) test.before((t) => t.log('Skipped: there is no redis-server program.'));

async function refusal(counters: Counters): Promise<{ code: unknown; ms: number }> {
  const started = performance.now();
  const error: unknown = await counters.hit('k', 5, 60).catch((reason: unknown) => reason);
  return { code: (error as { code?: unknown }).code, ms: performance.now() - started };
}

withRedis('two processes count together, by the clock of Redis, and keys expire', async (t) => {
  const redis = await startRedis(await freePort());
  const prefix = `test:${randomUUID()}:`;
  const [one, two] = [createCounters({ redisUrl: redis.url, prefix }), createCounters({ redisUrl: redis.url, prefix })];
  const direct = new Redis(redis.url);
  try {
    await Promise.all([reached(one), reached(two)]);
    t.true((await one.hit('k', 2, 60)).allowed);
    const second = await two.hit('k', 2, 60);
    t.like(second, { allowed: true, remaining: 0 });
    t.false((await one.hit('k', 2, 60)).allowed);
    t.true(Math.abs(second.resetAt - Date.now() / 1000) < 125);
    const ttl = await direct.pttl(`${prefix}k`);
    t.true(ttl > 0 && ttl <= 60_000, `expires in ${ttl} ms`);
    await one.peek('never hit', 2, 60);
    t.deepEqual(await direct.keys('*'), [`${prefix}k`]);
  } finally {
    direct.disconnect();
    await Promise.all([one.close(), two.close()]);
    await redis.stop();
  }
});

withRedis('one hit is one command, by the hash of the script', async (t) => {
  const redis = await startRedis(await freePort());
  const counters = createCounters({ redisUrl: redis.url });
  const direct = new Redis(redis.url);
  try {
    await reached(counters);
    for (let i = 0; i < 10; i++) await counters.hit('k', 100, 60);
    const stats = await direct.info('commandstats');
    t.regex(stats, /cmdstat_evalsha:calls=(9|10|11),/);
    t.regex(stats, /cmdstat_eval:calls=1,/);
  } finally {
    direct.disconnect();
    await counters.close();
    await redis.stop();
  }
});

test('with no Redis from the start every hit rejects within a second', async (t) => {
  const counters = createCounters({ redisUrl: `redis://127.0.0.1:${await freePort()}` });
  try {
    for (let i = 0; i < 3; i++) {
      const { code, ms } = await refusal(counters);
      t.is(code, 'COUNTERS_UNAVAILABLE');
      t.true(ms < BUSY_MS, `took ${ms} ms`);
    }
  } finally {
    await counters.close();
  }
});

withRedis('when Redis goes hits reject fast, and when it comes back they count again', async (t) => {
  const port = await freePort();
  let redis = await startRedis(port);
  const counters = createCounters({ redisUrl: redis.url });
  try {
    await reached(counters);
    t.true((await counters.hit('k', 5, 60)).allowed);
    await redis.stop();
    const { code, ms } = await refusal(counters);
    t.is(code, 'COUNTERS_UNAVAILABLE');
    t.true(ms < BUSY_MS, `took ${ms} ms`);
    redis = await startRedis(port);
    await reached(counters);
    t.like(await counters.hit('k', 5, 60), { allowed: true, used: 1 });
  } finally {
    await counters.close();
    await redis.stop();
  }
});

withRedis('a Redis that hangs is given up within a second, and used again when it goes on', async (t) => {
  const redis = await startRedis(await freePort());
  const counters = createCounters({ redisUrl: redis.url });
  try {
    await reached(counters);
    redis.process.kill('SIGSTOP');
    for (let i = 0; i < 4; i++) {
      const { code, ms } = await refusal(counters);
      t.is(code, 'COUNTERS_UNAVAILABLE');
      t.true(ms < BUSY_MS, `took ${ms} ms`);
    }
    redis.process.kill('SIGCONT');
    await reached(counters);
    t.true((await counters.hit('other', 5, 60)).allowed);
  } finally {
    redis.process.kill('SIGCONT');
    await counters.close();
    await redis.stop();
  }
});

withRedis('a process that was busy itself does not take that for a Redis that hangs', async (t) => {
  const redis = await startRedis(await freePort());
  const counters = createCounters({ redisUrl: redis.url });
  try {
    await reached(counters);
    const hit = counters.hit('meanwhile', 5, 60);
    const end = performance.now() + 1_500;
    while (performance.now() < end);
    t.true((await hit).allowed);
  } finally {
    await counters.close();
    await redis.stop();
  }
});
