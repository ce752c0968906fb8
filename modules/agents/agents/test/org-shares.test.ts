/** The rate limit on all agents of an organization. */
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';
import { OrgShares, shareOf } from '../services/tokens/org-shares.ts';

test('the limit grows with the number of devices between its bounds', (t) => {
  t.deepEqual([0, 50, 51, 1_000, 5_000].map(shareOf), [600, 600, 612, 12_000, 20_000]);
});

test('devices of several organizations are counted in one statement, and not again within a minute', async (t) => {
  const asked: string[][] = [];
  const shares = new OrgShares(async (orgIds) => {
    asked.push([...orgIds]);
    return new Map([['a', 100]]);
  });
  const limits: number[] = [];
  const count = {
    hit: async (_key: string, max: number) => {
      limits.push(max);
      return { allowed: true, retryAfterSeconds: 0 };
    },
    peek: async () => ({ allowed: true, retryAfterSeconds: 0 }),
  };
  const counters = { ...count, local: count };
  await Promise.all([shares.spend(counters, 'a', true), shares.spend(counters, 'b', false)]);
  await shares.spend(counters, 'a', false);
  t.deepEqual(asked, [['a', 'b']]);
  t.deepEqual(limits, [1_200, 480, 960]);
});

test('beyond four fifths only heartbeats, starts and results are accepted, and other organizations are not affected', async (t) => {
  const platform = await startTestPlatform();
  t.teardown(() => platform.stop());
  const arrange = async () => {
    const at = await tenant(platform);
    const key = await enrollmentKey(platform, at);
    return { ...at, agents: await Promise.all(Array.from({ length: 6 }, () => enrollAgent(platform, { key }))) };
  };
  const [busy, calm] = [await arrange(), await arrange()];
  // Counts calls directly: on a slow machine real requests would take longer than the minute of the limit.
  const { counters } = platform.platform.tasks.work.services;
  for (let call = 0; call < 480; call += 1) await counters.hit(`agents-org:${busy.orgId}`, 600, 60);
  const [agent] = busy.agents;
  if (!agent) return t.fail();
  const refused = await agent.call<ErrorBody & { retryAfter: number }>('GET', 'config');
  t.deepEqual([refused.status, refused.body.error.code], [429, 'RATE_LIMITED']);
  t.true(refused.body.retryAfter >= 1);
  t.is((await agent.heartbeat()).status, 200);
  t.is((await agent.result('00000000-0000-4000-8000-000000000000')).status, 404, 'heard, and unknown');
  t.is((await calm.agents[0]?.call('GET', 'config'))?.status, 200);
});
