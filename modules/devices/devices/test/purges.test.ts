/** Purging devices. */
import test from 'ava';
import { type ErrorBody, enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';
import { eventsOf, refusalOf, runJob } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, place), hostname: 'leaver' });
  return { ...place, agent, id: agent.deviceId, token: place.partner.token };
}
const purge = (token: string, id: string, confirm = 'leaver') =>
  platform.call('DELETE', `/devices/${id}/permanent?confirm=${confirm}`, { token });
const left = async (id: string) => {
  const tables = await platform.sql<{ tab: string }>(
    `select c.relname as tab from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'device_id'
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname like 'device\\_%'`,
  );
  const found: string[] = [];
  for (const { tab } of tables) {
    const rows = await platform.sql(`select 1 from ${tab} where device_id = $1 limit 1`, [id]);
    if (rows.length > 0) found.push(tab);
  }
  return found;
};

test('a purge deletes the device with all its rows, however many, and its agent receives DEVICE_GONE', async (t) => {
  const { agent, id, token, orgId } = await arrange();
  await platform.sql(
    `insert into device_metrics (device_id, ts, org_id, cpu_percent)
     select $1, now() - n * interval '1 second', $2, 1 from generate_series(1, 25000) n`,
    [id, orgId],
  );
  await platform.sql(
    `insert into device_software (device_id, org_id, name) select $1, $2, 'app ' || n from generate_series(1, 3000) n`,
    [id, orgId],
  );
  await platform.call('POST', `/devices/${id}/commands`, { token, body: { type: 'lock' } });
  await platform.call('DELETE', `/devices/${id}`, { token });
  const asked = await Promise.all([purge(token, id), purge(token, id)]);
  t.deepEqual(
    asked.map(({ status }) => status),
    [202, 202],
  );
  const restored = await platform.call<ErrorBody>('POST', `/devices/${id}/restore`, { token });
  t.deepEqual(refusalOf(restored), [409, 'INVALID_STATE']);
  t.like(restored.body.error.details[0], { current: 'purging' });
  await platform.runJobs();
  t.deepEqual(await left(id), []);
  t.is((await platform.call('GET', `/devices/${id}`, { token })).status, 404);
  t.is((await agent.heartbeat()).status, 410);
  t.true((await eventsOf(platform, id)).includes('devices.purged'));
  const audits = await platform.audits({ action: 'device.delete', orgId });
  t.deepEqual(
    audits.map(({ details }) => [details.mode, details.requested ?? false]),
    [
      ['decommission', false],
      ['purge', true],
      ['purge', true],
      ['purge', false],
    ],
  );
});

test.serial('a purge that was requested and did not finish is repeated', async (t) => {
  const { id, token } = await arrange();
  await platform.call('DELETE', `/devices/${id}`, { token });
  await platform.sql(`update devices set purge_requested_at = now() - interval '2 days' where id = $1`, [id]);
  await runJob(platform, 'devices/purge-devices');
  await platform.runJobs();
  t.is((await platform.call('GET', `/devices/${id}`, { token })).status, 404);
});

test('a purge requires a decommissioned device, its name, and the permission', async (t) => {
  const { id, token, viewer } = await arrange();
  const other = await tenant(platform);
  t.deepEqual(refusalOf(await purge(token, id)), [409, 'INVALID_STATE']);
  await platform.call('DELETE', `/devices/${id}`, { token });
  t.deepEqual(refusalOf(await purge(token, id, 'Leaver')), [400, 'VALIDATION_ERROR']);
  t.deepEqual(refusalOf(await platform.call('DELETE', `/devices/${id}/permanent`, { token })), [
    400,
    'VALIDATION_ERROR',
  ]);
  t.deepEqual(refusalOf(await purge(viewer.token, id)), [403, 'FORBIDDEN']);
  t.deepEqual(refusalOf(await purge(other.partner.token, id)), [404, 'NOT_FOUND']);
  await platform.runJobs();
  t.is((await platform.call('GET', `/devices/${id}`, { token })).status, 200);
});
