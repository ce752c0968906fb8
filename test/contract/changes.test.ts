/** Every list that can be followed, found from the route table: changes once, ends as tombstones, nothing lost, nothing of others. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { Replica, settled, startTestPlatform, tenant } from '#test';
import { routeTags } from '../../core/loader/load.ts';
import { Examples, loadExamples } from './fixtures/examples.ts';

const platform = await startTestPlatform();
const routes = routeTags(platform.platform.modules).filter(
  ({ route }) => route.method === 'GET' && 'updatedSince' in (route.query?.describe().keys ?? {}),
);
const lives = new Examples(await loadExamples(platform.platform.modules)).merged('changes');
test.after.always(() => platform.stop());

/** A transaction of its own that stays open until it is told to commit. */
async function open() {
  const client = await platform.platform.tasks.work.database.owner.connect();
  await client.query('begin');
  return {
    sql: (text: string, values: unknown[] = []) => client.query(text, values),
    async end(how: 'commit' | 'rollback') {
      await client.query(how);
      client.release();
    },
  };
}

test('the module of every list that can be followed says how its rows come and go', (t) => {
  t.deepEqual(routes.map(({ route }) => route.path).sort(), Object.keys(lives).sort());
});

for (const [path, life] of Object.entries(lives)) {
  test.serial(`${path}: all rows, then each change once and an end as a tombstone`, async (t) => {
    const made = await tenant(platform);
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of ids) await life.make(platform.sql, made, id);
    const replica = new Replica(platform, path, made.partner, 2);
    await replica.follow();
    for (const id of ids) t.true(replica.rows.has(id));
    const before = replica.cursor;
    t.deepEqual(await replica.follow(), { ids: [], gone: [] });
    const [first = '', second = ''] = ids;
    await life.touch(platform.sql, first);
    t.deepEqual(await replica.follow(), { ids: [first], gone: [] });
    t.deepEqual(await replica.follow(), { ids: [], gone: [] });
    await life.remove(platform.sql, second);
    t.deepEqual((await replica.follow()).gone, [second]);
    t.deepEqual(await replica.follow(), { ids: [], gone: [] });
    replica.cursor = before;
    t.deepEqual(await replica.follow(), { ids: [first], gone: [second] }, 'a cursor may be used again');
  });

  test.serial(`${path}: transactions that commit in the reverse order of their beginning are both seen`, async (t) => {
    const made = await tenant(platform);
    const [early, late, undone] = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of [early, late, undone]) await life.make(platform.sql, made, id);
    const replica = new Replica(platform, path, made.partner);
    await replica.follow();
    const one = await open();
    await life.touch(one.sql, early);
    const two = await open();
    await life.touch(two.sql, late);
    const three = await open();
    await life.remove(three.sql, undone);
    await two.end('commit');
    t.deepEqual(await replica.followOpen(), { ids: [], gone: [] }, 'what commits later could come before it');
    await three.end('rollback');
    await one.end('commit');
    t.deepEqual((await replica.follow()).ids.sort(), [early, late].sort());
    t.deepEqual(await replica.follow(), { ids: [], gone: [] });
  });

  test.serial(`${path}: another tenant's changes are not told, and its cursor is refused`, async (t) => {
    const [made, stranger] = [await tenant(platform), await tenant(platform)];
    const id = randomUUID();
    await life.make(platform.sql, made, id);
    const own = new Replica(platform, path, made.partner);
    const other = new Replica(platform, path, stranger.partner);
    await Promise.all([own.follow(), other.follow()]);
    t.false(other.rows.has(id));
    await life.touch(platform.sql, id);
    await life.remove(platform.sql, id);
    t.deepEqual(await other.follow(), { ids: [], gone: [] });
    const refused = await other.ask(`cursor=${own.cursor}`);
    t.deepEqual([refused.status, refused.body.error?.code], [410, 'CURSOR_EXPIRED']);
  });

  test.serial(
    `${path}: a time gives what was committed since; too long ago, from elsewhere, or forged is refused`,
    async (t) => {
      const made = await tenant(platform);
      const id = randomUUID();
      await life.make(platform.sql, made, id);
      await platform.sql('insert into sync_horizons default values on conflict do nothing');
      const since = new Date().toISOString();
      const replica = new Replica(platform, path, made.partner);
      await life.touch(platform.sql, id);
      await settled(platform);
      t.true((await replica.ask(`updatedSince=${since}`)).body.data.some((row) => row.id === id));
      await replica.follow();
      const code = async (query: string) => {
        const { status, body } = await replica.ask(query);
        return `${status} ${body.error?.code ?? ''}`;
      };
      t.is(await code('updatedSince=2001-01-01T00:00:00Z'), '410 CURSOR_EXPIRED');
      t.is(await code('updatedSince=yesterday'), '400 VALIDATION_ERROR');
      t.is(await code('updatedSince=beginning&page=1'), '400 VALIDATION_ERROR');
      t.is(await code(`updatedSince=beginning&cursor=${replica.cursor}`), '400 INVALID_CURSOR');
      const parts = JSON.parse(Buffer.from(replica.cursor, 'base64url').toString()) as unknown[];
      const forge = (place: number, value: unknown) =>
        `cursor=${Buffer.from(JSON.stringify(parts.with(place, value))).toString('base64url')}`;
      t.is(await code(forge(1, 'others')), '400 INVALID_CURSOR');
      t.is(await code(forge(2, 'another')), '410 CURSOR_EXPIRED', 'another cluster, or a backup brought back');
      t.is(await code(forge(3, 'another')), '410 CURSOR_EXPIRED', 'another reach');
      t.is(await code(forge(4, 'another')), '400 INVALID_CURSOR', 'other filters');
      t.is(await code(forge(5, '1')), '410 CURSOR_EXPIRED', 'older than what is kept');
      t.is(await code(forge(5, '9000000000000000000')), '410 CURSOR_EXPIRED', 'from the future');
      t.is(await code(forge(5, '99999999999999999999')), '400 INVALID_CURSOR');
      t.is(await code(forge(5, { a: 1 })), '400 INVALID_CURSOR');
      t.is(await code(forge(6, 'x')), '400 INVALID_CURSOR');
      t.is(await code(forge(7, ['x'])), '400 INVALID_CURSOR');
    },
  );
}
