/** Batches that are paced: a steady stream shares statements, a single item does not wait, and many go at once. */
import test from 'ava';
import pg from 'pg';
import { createTestDatabase } from '#test';
import { defineBatch } from '../../contract/index.ts';
import { openBatches } from '../batches.ts';

test('after a pause an item goes at once, the next ones together, and enough of them do not wait', async (t) => {
  const database = await createTestDatabase({ empty: true });
  const pool = new pg.Pool({ connectionString: database.url, max: 1 });
  t.teardown(async () => {
    await pool.end();
    await database.drop();
  });
  const sizes: number[] = [];
  const EVERY_MS = 60_000;
  const batch = defineBatch<number, number>({
    name: 'test/paced',
    maxSize: 100,
    autocommit: true,
    pace: { everyMs: EVERY_MS, enough: 4 },
    async run(sql, items) {
      sizes.push(items.length);
      await sql('select 1');
      return items.map((item) => item * 2);
    },
  });
  const batches = openBatches(pool);
  t.is(await batches.add(batch, 1), 2, 'nobody waits for company');
  const together = [2, 3].map((item) => batches.add(batch, item));
  await new Promise((resolve) => setImmediate(resolve));
  t.deepEqual(sizes, [1], 'too few to be worth a statement so soon');
  together.push(...[4, 5].map((item) => batches.add(batch, item)));
  t.deepEqual(await Promise.all(together), [4, 6, 8, 10]);
  t.deepEqual(sizes, [1, 4]);
});
