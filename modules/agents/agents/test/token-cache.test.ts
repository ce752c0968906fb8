/** The cache of tokens, by which a heartbeat costs no statement. */
import test from 'ava';
import { type KnownToken, TokenCache, type TokenLookup } from '../services/tokens/token-cache.ts';

const known = (deviceId: string, change: Partial<KnownToken> = {}): TokenLookup => ({
  kind: 'known',
  token: {
    deviceId,
    orgId: 'o',
    agentId: `agent-${deviceId}`,
    role: 'agent',
    state: 'current',
    expiresAt: null,
    suspended: false,
    createdAt: new Date(),
    siteId: 's',
    partnerId: 'p',
    hostname: 'pc',
    lifecycle: 'active',
    tenantActive: true,
    ...change,
  },
});

/** A store of `<device>` hashes that records the lookups. */
function store(answer = (hash: string): TokenLookup => known(hash)) {
  const asked: string[][] = [];
  const read = async (hashes: readonly string[]) => {
    asked.push([...hashes]);
    return new Map(hashes.map((hash) => [hash, answer(hash)]));
  };
  return { asked, read };
}

test('tokens looked up at once are read in one statement, and then cached', async (t) => {
  const { asked, read } = store();
  const cache = new TokenCache(read);
  await Promise.all(['a', 'b', 'c'].map((hash) => cache.find(hash, false)));
  t.deepEqual(asked, [['a', 'b', 'c']]);
  await Promise.all(['a', 'b', 'c'].map((hash) => cache.find(hash, false)));
  t.is(asked.length, 1);
});

test('a change of a device drops its tokens only; lost notices drop all', async (t) => {
  const { asked, read } = store((hash) => known(hash.slice(0, 1)));
  const cache = new TokenCache(read);
  for (const hash of ['a1', 'a2', 'b1']) await cache.find(hash, false);
  cache.forgetDevice('a');
  for (const hash of ['a1', 'a2', 'b1']) await cache.find(hash, false);
  t.deepEqual(asked.flat(), ['a1', 'a2', 'b1', 'a1', 'a2']);
  cache.clear();
  t.is(cache.size, 0);
});

test('a result that was read while a notice came is used once and not cached', async (t) => {
  const held = Promise.withResolvers<void>();
  let reads = 0;
  const cache = new TokenCache(async (hashes) => {
    reads += 1;
    if (reads === 1) await held.promise;
    return new Map(hashes.map((hash) => [hash, known(hash, { suspended: reads > 1 })]));
  });
  const first = cache.find('a', false);
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  cache.forgetDevice('a');
  held.resolve();
  t.like(await first, { token: { suspended: false } });
  t.like(await cache.find('a', false), { token: { suspended: true } });
});

test('unknown tokens are not cached, and the oldest entry is replaced by a new one', async (t) => {
  const { asked, read } = store((hash) => (hash === 'nobody' ? { kind: 'unknown' } : known(hash)));
  const cache = new TokenCache(read, 2);
  await cache.find('nobody', false);
  await cache.find('nobody', false);
  t.is(asked.length, 2);
  t.is(cache.size, 0);
  for (const hash of ['a', 'b', 'c']) await cache.find(hash, false);
  t.is(cache.size, 2);
  t.is(cache.peek('a'), undefined);
  t.truthy(cache.peek('c'));
});

test('a token that waits for its confirmation is read every time', async (t) => {
  const { asked, read } = store((hash) => known(hash, { state: 'pending' }));
  const cache = new TokenCache(read);
  await cache.find('a', false);
  await cache.find('a', false);
  t.is(asked.length, 2);
});
