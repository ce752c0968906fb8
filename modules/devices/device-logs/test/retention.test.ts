/** How long events stay, and the days that logs and events lie in. */
import test from 'ava';
import { sharedPlatform, startTestPlatform } from '#test';
import { event, newAgent, runJob, submitEvents } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

test('events are removed a month after their last occurrence, and those of purged devices with the device', async (t) => {
  const { agent, orgId } = await newAgent(platform);
  await submitEvents(agent, [event(), event({ eventId: '1' }), event({ eventId: undefined })]);
  const old = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 10);
  const partition = `device_event_entries_y${old.slice(0, 4)}m${old.slice(5, 7)}d${old.slice(8, 10)}`;
  await platform.sql(
    `create table ${partition} partition of device_event_entries for values from ('${old} 00:00Z') to ('${old} 23:00Z')`,
  );
  await platform.sql(
    `insert into device_event_entries (device_id, org_id, timestamp, level, category, source, message, created_at, digest)
     values ($1, $2, now(), 'info', 'system', 's', 'old', '${old} 12:00Z', 1)`,
    [agent.deviceId, orgId],
  );
  await platform.sql(
    `update device_event_logs set last_occurred_at = now() - interval '31 days' where device_id = $1 and event_id = '1'`,
    [agent.deviceId],
  );
  await runJob(platform, 'drop-old-days');
  await runJob(platform, 'prune-events');
  const left = () =>
    platform.sql(
      `select event_id as id from device_event_logs where device_id = $1
       union all select message from device_event_entries where device_id = $1 order by 1`,
      [agent.deviceId],
    );
  t.deepEqual(await left(), [{ id: '7036' }, { id: 'The service stopped' }]);
  await platform.sql('delete from devices where id = $1', [agent.deviceId]);
  t.deepEqual(await left(), [{ id: 'The service stopped' }], 'what lies in days leaves with its day');
});

test('EVENT_LOG_RETENTION_DAYS sets the retention of events', async (t) => {
  const short = await startTestPlatform({ EVENT_LOG_RETENTION_DAYS: '3' });
  t.teardown(() => short.stop());
  const { agent } = await newAgent(short);
  await submitEvents(agent, [event(), event({ eventId: '1' })]);
  await short.sql(
    `update device_event_logs set last_occurred_at = now() - make_interval(days => case event_id when '1' then 4 else 2 end)`,
  );
  await runJob(short, 'prune-events');
  t.deepEqual(await short.sql('select event_id as id from device_event_logs'), [{ id: '7036' }]);
});

test('a job creates the partitions of the coming week', async (t) => {
  // Other tests of this file remove partitions of past days meanwhile, so only the newest of each table counts.
  const newest = async (table: string) => {
    const [day] = await platform.sql<{ name: string }>(
      `select inhrelid::regclass::text as name from pg_inherits where inhparent = $1::regclass order by 1 desc limit 1`,
      [table],
    );
    return day?.name;
  };
  // Midnight may have been since the tables were made.
  await runJob(platform, 'make-days');
  for (const table of ['agent_logs', 'device_event_entries']) {
    const before = await newest(table);
    await platform.sql(`drop table ${before}`);
    t.not(await newest(table), before);
    await runJob(platform, 'make-days');
    t.is(await newest(table), before);
  }
});
