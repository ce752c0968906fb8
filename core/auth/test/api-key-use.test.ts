/** Uses of API keys are written together. */
import test from 'ava';
import { keyUse } from '../api-key-use.ts';

type Sql = Parameters<typeof keyUse.run>[0];

/** Statements that were sent, with their values. */
async function sent(items: { keyHash: string; expired: boolean }[]): Promise<unknown[][]> {
  const seen: unknown[][] = [];
  const sql = async (_text: string, values: unknown[] = []) => {
    seen.push(values);
    return { rows: [], rowCount: 0 };
  };
  const results = await keyUse.run(sql as unknown as Sql, items);
  if (results.length !== items.length) throw new Error('each item gets its answer');
  return seen;
}

test('a thousand uses of a few keys are one statement', async (t) => {
  const items = Array.from({ length: 1000 }, (_, n) => ({ keyHash: `key ${n % 3}`, expired: false }));
  t.deepEqual(await sent(items), [
    [
      ['key 0', 'key 1', 'key 2'],
      [334, 333, 333],
    ],
  ]);
});

test('an expired key is marked once and not counted', async (t) => {
  t.deepEqual(await sent([1, 2].map(() => ({ keyHash: 'old', expired: true }))), [[['old']]]);
});
