/** Following a list: everything at first, then what has changed since the position that was kept. */
import test from 'ava';
import { createClient } from '../src/client.ts';

const page = (ids: string[], deleted: string[], hasMore: boolean, cursor: string) => ({
  data: ids.map((id) => ({ id })),
  deleted: deleted.map((id) => ({ id, deletedAt: '2030-01-01T00:00:00.000Z' })),
  pagination: { hasMore, cursor },
});

test('a walk begins with everything, and the next one where the last one ended', async (t) => {
  const pages = [page(['a', 'b'], [], true, 'one'), page(['c'], [], false, 'two'), page([], ['a'], false, 'three')];
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'https://rmm.example.com',
    fetch: async ({ url }) => {
      asked.push(new URL(url).search);
      return Response.json(pages[asked.length - 1]);
    },
  });
  const seen: unknown[] = [];
  let cursor: string | undefined;
  for (const _ of [1, 2]) {
    for await (const { data, deleted, cursor: next } of client.changes('/devices', {
      query: { limit: 2, ...(cursor ? { cursor } : {}) },
    })) {
      seen.push([...data.map(({ id }) => id), ...deleted.map(({ id }) => `-${id}`)]);
      cursor = next;
    }
  }
  t.deepEqual(seen, [['a', 'b'], ['c'], ['-a']]);
  t.deepEqual(asked, ['?updatedSince=beginning&limit=2', '?limit=2&cursor=one', '?limit=2&cursor=two']);
});
