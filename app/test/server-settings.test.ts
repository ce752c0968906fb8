/** What the connections are set to, and what doctor says of the server. */
import test from 'ava';
import { createTestDatabase } from '#test';
import { openDatabase } from '../../core/database/pools.ts';
import { warningsOf } from '../doctor/server-settings.ts';

const MIB = 1024 ** 2;

test('a server with the defaults of PostgreSQL is warned of, and one with ours is not', (t) => {
  const rows = (sharedMib: number, walMib: number, connections: number, autovacuum: string) => [
    { name: 'shared_buffers', setting: '', bytes: sharedMib * MIB },
    { name: 'max_wal_size', setting: '', bytes: walMib * MIB },
    { name: 'max_connections', setting: String(connections), bytes: null },
    { name: 'autovacuum', setting: autovacuum, bytes: null },
  ];
  t.deepEqual(warningsOf(rows(256, 2048, 100, 'on'), 10), []);
  t.deepEqual(warningsOf(rows(128, 1024, 20, 'off'), 10), [
    'shared_buffers is below 256MB',
    'max_wal_size is below 2GB, so checkpoints come often',
    'max_connections is 20, and one process may open 34',
    'autovacuum is off, so tables grow',
  ]);
});

test('our connections plan for short statements and fast disks, whatever the server is set to', async (t) => {
  const { url, drop } = await createTestDatabase();
  const name = new URL(url).pathname.slice(1);
  const database = openDatabase({ url, poolSize: 1, onError: () => undefined });
  await database.owner.query(
    `alter database ${name} set jit = on; alter database ${name} set random_page_cost = 4; alter database ${name} set work_mem = '64kB'`,
  );
  await database.close();
  const again = openDatabase({ url, poolSize: 1, onError: () => undefined });
  for (const pool of [again.owner, again.app, again.platform]) {
    const { rows } = await pool.query(
      `select current_setting('jit') as jit, current_setting('random_page_cost') as cost, current_setting('work_mem') as memory`,
    );
    t.deepEqual(rows, [{ jit: 'off', cost: '1.1', memory: '8MB' }]);
  }
  await again.close();
  await drop();
});
