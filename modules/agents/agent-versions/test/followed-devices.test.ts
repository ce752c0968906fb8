/** Attempts of devices that move to another organization or are merged. */
import test from 'ava';
import { organization, systemUser, tenant } from '#test';
import { attempts, layOut, newAgent, report, sendHeartbeat, startLocal, sync } from './ground.ts';

const { test: platform, folder } = await startLocal();
const admin = await systemUser(platform);
await layOut(folder, '2.0.0', ['agent-linux-amd64']);
await sync(platform, admin.token);
test.after.always(() => platform.stop());

test('an update in progress moves with its device, ended attempts stay in the old organization', async (t) => {
  const at = await tenant(platform);
  const target = await organization(platform, at.partnerId);
  const agent = await newAgent(platform, at);
  await sendHeartbeat(agent);
  await report(agent, '2.0.0', 'failed', { reason: 'download_failed' });
  t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.0.0');
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [agent.deviceId]);
  const moved = await platform.call('POST', `/devices/${agent.deviceId}/move-org`, {
    token: at.partner.token,
    body: { orgId: target.orgId, siteId: target.siteId },
  });
  t.is(moved.status, 200, JSON.stringify(moved.body));
  const rows = await platform.sql(
    'select org_id, state from agent_update_attempts where device_id = $1 order by attempt',
    [agent.deviceId],
  );
  t.deepEqual(rows, [
    { org_id: at.orgId, state: 'failed' },
    { org_id: target.orgId, state: 'offered' },
  ]);
  t.is((await report(agent, '2.0.0', 'downloading')).status, 200);
  await sendHeartbeat(agent, '2.0.0');
  t.is((await attempts(platform, agent.deviceId)).at(-1)?.state, 'succeeded');
});

test('a merge moves the attempts to the remaining device', async (t) => {
  const at = await tenant(platform);
  const [old, fresh] = [await newAgent(platform, at), await newAgent(platform, at)];
  await sendHeartbeat(old);
  await sendHeartbeat(fresh);
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [old.deviceId]);
  const merged = await platform.call('POST', `/devices/${old.deviceId}/merge`, {
    token: at.partner.token,
    body: { intoDeviceId: fresh.deviceId },
  });
  t.is(merged.status, 200, JSON.stringify(merged.body));
  t.deepEqual(await attempts(platform, old.deviceId), []);
  t.deepEqual((await attempts(platform, fresh.deviceId)).map(({ state, reason }) => [state, reason]).sort(), [
    ['failed', 'superseded'],
    ['offered', null],
  ]);
});
