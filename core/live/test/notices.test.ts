/** Notices reach every process after the commit, and a broken connection is told and mended. */
import { EventEmitter, once } from 'node:events';
import test from 'ava';
import { createTestDatabase } from '#test';
import { openDatabase } from '../../database/pools.ts';
import { createLog } from '../../log.ts';
import { openNotices } from '../notices.ts';

test('a notice arrives once its transaction commits, and again after the connection was cut', async (t) => {
  const created = await createTestDatabase();
  const database = openDatabase({ url: created.url, poolSize: 2, onError: () => undefined });
  const notices = await openNotices(created.url, createLog('silent'));
  const heard = new EventEmitter();
  let lost = 0;
  notices.on('agent', (payload) => heard.emit('agent', payload));
  notices.onLost(() => {
    lost += 1;
    heard.emit('lost');
  });
  const send = (payload: string) =>
    database.platform.query('select flush_effects($1::jsonb)', [
      JSON.stringify({ notices: [{ channel: 'quartermaster', payload: JSON.stringify(['agent', payload]) }] }),
    ]);
  const first = once(heard, 'agent');
  await send('one');
  t.deepEqual(await first, ['one']);
  await database.owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'quartermaster:notices' and datname = current_database()`,
  );
  await once(heard, 'lost');
  if (!notices.connected) await once(heard, 'lost');
  t.true(lost >= 1);
  t.true(notices.connected);
  const second = once(heard, 'agent');
  await send('two');
  t.deepEqual(await second, ['two']);
  await notices.close();
  await database.close();
  await created.drop();
});
