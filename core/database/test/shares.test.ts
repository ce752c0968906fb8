/** Shares of the pool: a locked table and its readers leave connections for other tenants, agents and logins. */
import test from 'ava';
import pg from 'pg';
import { startTestPlatform, tenant, until } from '#test';
import { type Claim, limitsOf, Shares } from '../connections/shares.ts';

const of = (tenant: string): Claim => ({ kind: 'request', tenant });
const agent: Claim = { kind: 'agent', tenant: null };
const job: Claim = { kind: 'background', tenant: null };

/** How many of these are admitted at once. */
async function admitted(shares: Shares, claim: Claim, count: number): Promise<number> {
  let n = 0;
  for (let i = 0; i < count; i++) {
    void shares.enter(claim).then(
      () => (n += 1),
      () => undefined,
    );
  }
  await new Promise((resolve) => setImmediate(resolve));
  return n;
}

test('no tenant, no background work and no agents take the whole pool, whatever its size', async (t) => {
  for (let size = 1; size <= 100; size++) {
    const { share, ordinary, signedIn } = limitsOf(size);
    t.true(share >= 1 && share <= ordinary && ordinary <= signedIn && signedIn <= size, `${size}`);
    t.is(share < size && ordinary < size && signedIn < size, size >= 4, `${size}`);
  }
  const shares = new Shares(10, 1);
  t.is(await admitted(shares, of('a'), 20), 6);
  t.is(await admitted(shares, of('b'), 20), 2);
  t.is(await admitted(shares, agent, 20), 1);
  t.is(await admitted(shares, { kind: 'open', tenant: null }, 3), 3);
  t.is(await admitted(new Shares(10, 1), job, 20), 6);
});

test('who waits is admitted in order, past those whose share is in use', async (t) => {
  const shares = new Shares(10, 60_000);
  const held = await Promise.all(Array.from({ length: 6 }, () => shares.enter(of('a'))));
  const order: string[] = [];
  const next = [of('a'), of('b'), of('a')].map((claim, index) =>
    shares.enter(claim).then((leave) => {
      order.push(`${claim.tenant}${index}`);
      return leave;
    }),
  );
  await next[1];
  t.deepEqual([order, shares.waiting], [['b1'], 2]);
  held[0]?.();
  held[0]?.();
  await next[0];
  t.deepEqual([order, shares.waiting], [['b1', 'a0'], 1], 'a place is given back once');
  held[1]?.();
  await next[2];
  t.is(shares.waiting, 0);
});

test('who waits too long is told that the database has no connection free', async (t) => {
  const shares = new Shares(1, 5);
  await shares.enter(job);
  await t.throwsAsync(shares.enter(job), { message: 'timeout exceeded when trying to connect' });
  t.is(shares.waiting, 0);
});

test('while one tenant’s readers wait for a locked table, others are answered at once', async (t) => {
  const platform = await startTestPlatform({ DATABASE_POOL_SIZE: '10', LOG_LEVEL: 'silent' });
  t.teardown(() => platform.stop());
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const { app } = platform.platform.tasks.work.database;
  const holder = new pg.Client({ connectionString: platform.databaseUrl });
  await holder.connect();
  await holder.query('begin; lock table devices in access exclusive mode');
  const readers = Array.from({ length: 30 }, () => platform.call('GET', '/devices', { token: mine.orgAdmin.token }));
  await until(async () => app.shares.waiting >= 20);
  const [sites, login, health] = await Promise.all([
    platform.call('GET', '/orgs/sites', { token: theirs.orgAdmin.token }),
    platform.call('POST', '/auth/login', { body: { email: theirs.viewer.email, password: 'not the password' } }),
    platform.call('GET', '//health/ready'),
  ]);
  t.true(app.shares.waiting >= 20, 'they were answered while the others waited');
  t.deepEqual([sites.status, login.status, health.status], [200, 401, 200]);
  const { body: metrics } = await platform.call<string>('GET', '//metrics');
  t.regex(metrics, /^database_pool_waiting\{pool="app"\} 2\d$/m);
  await holder.query('rollback');
  await holder.end();
  for (const { status } of await Promise.all(readers)) t.is(status, 200);
});
