/** What only in-process counters do: forget. */
import test from 'ava';
import { createMemoryCounters } from '../memory-counters.ts';

test('expired keys are forgotten while other keys are hit', async (t) => {
  let now = 0;
  const counters = createMemoryCounters({ now: () => now, maxKeys: 100_000 });
  for (let i = 0; i < 1000; i++) await counters.hit(`old ${i}`, 5, 60);
  now = 60_000;
  for (let i = 0; i < 600; i++) await counters.hit('new', 1000, 60);
  t.is(counters.size(), 1);
});

test('keys that still count survive the sweep', async (t) => {
  let now = 0;
  const counters = createMemoryCounters({ now: () => now, maxKeys: 100_000 });
  await counters.hit('hour', 1, 3600);
  for (let i = 0; i < 100; i++) await counters.hit(`minute ${i}`, 5, 60);
  now = 61_000;
  for (let i = 0; i < 200; i++) await counters.hit('new', 1000, 60);
  t.is(counters.size(), 2);
  t.false((await counters.hit('hour', 1, 3600)).allowed);
});

test('above the bound the key unused for longest goes first', async (t) => {
  const counters = createMemoryCounters({ now: () => 0, maxKeys: 3 });
  for (const key of ['a', 'b', 'c', 'a', 'd']) await counters.hit(key, 2, 60);
  t.is(counters.size(), 3);
  t.is((await counters.peek('a', 2, 60)).used, 2);
  t.is((await counters.peek('b', 2, 60)).used, 0);
});
