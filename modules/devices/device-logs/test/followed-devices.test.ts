/** Logs of devices that move, are merged, or are purged. */
import test from 'ava';
import { enrollAgent, enrollmentKey, type FakeAgent, organization, sharedPlatform } from '#test';
import { newAgent } from './arrange.ts';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const at = () => new Date().toISOString();
async function write(agent: FakeAgent) {
  const event = { timestamp: at(), level: 'error', source: 'disk', message: 'bad block' };
  const events = [
    { ...event, eventId: '7' },
    { ...event, message: `other ${at()}` },
  ];
  const logs = [{ timestamp: at(), level: 'info', component: 'updater', message: 'hello' }];
  return [await agent.call('PUT', 'eventlogs', { events }), await agent.call('POST', 'logs', { logs })].map(
    ({ status }) => status,
  );
}
const rows = (table: string, deviceId: string) =>
  platform.sql<{ org_id: string }>(`select * from ${table} where device_id = $1`, [deviceId]);

test('logs stay with their organization, and the device writes new ones in the new organization', async (t) => {
  const { agent, orgId, partnerId, partner } = await newAgent(platform);
  const target = await organization(platform, partnerId);
  t.deepEqual(await write(agent), [200, 201]);
  const moved = await platform.call('POST', `/devices/${agent.deviceId}/move-org`, {
    token: partner.token,
    body: target,
  });
  t.is(moved.status, 200);
  t.deepEqual(await write(agent), [200, 201]);
  const [counted] = await rows('device_event_logs', agent.deviceId);
  t.like(counted, { org_id: target.orgId, occurrence_count: 1 });
  const entries = await rows('device_event_entries', agent.deviceId);
  t.deepEqual(entries.map(({ org_id }) => org_id).sort(), [orgId, orgId, target.orgId].sort());
  t.true(JSON.stringify(entries).includes('"occurrenceCount":1'));
  t.is((await rows('agent_logs', agent.deviceId)).filter(({ org_id }) => org_id === orgId).length, 1);
});

test('a merge moves the logs and adds up the counts; a purge removes them', async (t) => {
  const { agent, partner, orgId, siteId } = await newAgent(platform);
  const other = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) });
  await write(agent);
  await write(other);
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [agent.deviceId]);
  const { token } = partner;
  const merged = await platform.call('POST', `/devices/${agent.deviceId}/merge`, {
    token,
    body: { intoDeviceId: other.deviceId },
  });
  t.is(merged.status, 200);
  t.like((await rows('device_event_logs', other.deviceId))[0], { occurrence_count: 2 });
  t.is((await rows('agent_logs', other.deviceId)).length, 2);
  await platform.call('DELETE', `/devices/${other.deviceId}`, { token });
  const [name] = await platform.sql<{ hostname: string }>('select hostname from devices where id = $1', [
    other.deviceId,
  ]);
  await platform.call('DELETE', `/devices/${other.deviceId}/permanent?confirm=${name?.hostname}`, { token });
  await platform.runJobs();
  for (const table of ['agent_logs', 'device_event_entries', 'device_event_logs'])
    t.deepEqual(await rows(table, other.deviceId), [], table);
});
