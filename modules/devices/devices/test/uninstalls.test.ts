/** Agents that are uninstalled by hand, and what happens to their devices. */
import test from 'ava';
import { enrollAgent, enrollmentKey, startTestPlatform, tenant } from '#test';
import { runJob } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const newAgent = async (auto: boolean) => {
  const at = await tenant(platform);
  await platform.sql(
    `update organizations set settings = jsonb_set(settings, '{devices}', jsonb_build_object('autoDecommissionOnUninstall', $2::boolean))
     where id = $1`,
    [at.orgId, auto],
  );
  return { ...at, agent: await enrollAgent(platform, { key: await enrollmentKey(platform, at) }) };
};
const age = (deviceId: string, said: string, heard: string) =>
  platform.sql(
    `with s as (update device_state set last_seen_at = now() - $3::interval where device_id = $1)
     update devices set uninstall_intent_at = now() - $2::interval where id = $1`,
    [deviceId, said, heard],
  );
const lifecycleOf = async (deviceId: string) => {
  const [row] = await platform.sql<{ lifecycle: string }>('select lifecycle from devices where id = $1', [deviceId]);
  return row?.lifecycle;
};

test('an agent reports once that it is being removed, which is audited and shown', async (t) => {
  const { agent, orgId, orgAdmin } = await newAgent(false);
  t.is((await agent.call('POST', 'uninstall-intent', {})).status, 200);
  t.is((await agent.call('POST', 'uninstall-intent', {})).status, 200);
  const said = (await platform.audits({ action: 'agent.uninstall.intent', orgId })).filter(
    ({ result }) => result === 'success',
  );
  t.is(said.length, 1);
  const { body } = await platform.call<{ data: { uninstallIntentAt: string; status: string } }>(
    'GET',
    `/devices/${agent.deviceId}`,
    { token: orgAdmin.token },
  );
  t.truthy(body.data.uninstallIntentAt);
  t.is(body.data.status, 'online', 'nothing else changes');
});

test('a day later the silent device is decommissioned, if the organization has set so', async (t) => {
  const [wanted, silentOnly, heard, early, unwanted] = await Promise.all([
    newAgent(true),
    newAgent(true),
    newAgent(true),
    newAgent(true),
    newAgent(false),
  ]);
  await age(wanted.agent.deviceId, '25 hours', '25 hours');
  await platform.sql(`update device_state set last_seen_at = now() - interval '25 hours' where device_id = $1`, [
    silentOnly.agent.deviceId,
  ]);
  await age(heard.agent.deviceId, '25 hours', '1 hour');
  await age(early.agent.deviceId, '23 hours', '25 hours');
  await age(unwanted.agent.deviceId, '25 hours', '25 hours');
  await runJob(platform, 'devices/decommission-uninstalled');
  await runJob(platform, 'devices/decommission-uninstalled');
  t.is(await lifecycleOf(wanted.agent.deviceId), 'decommissioned');
  for (const { agent } of [silentOnly, heard, early, unwanted]) t.is(await lifecycleOf(agent.deviceId), 'active');
  const [entry, ...more] = await platform.audits({ action: 'device.delete', orgId: wanted.orgId });
  t.like(entry?.details, { mode: 'uninstall', uninstall: false });
  t.is(more.length, 0);
});

// Serial, because the job of the previous test would decommission this machine.
test.serial('a machine that enrolls again as the same device is not decommissioned', async (t) => {
  const at = await newAgent(true);
  await at.agent.call('POST', 'uninstall-intent', {});
  await age(at.agent.deviceId, '25 hours', '25 hours');
  const again = await enrollAgent(platform, {
    key: await enrollmentKey(platform, at),
    headers: { 'x-agent-reenrollment-token': at.agent.token },
  });
  t.is(again.deviceId, at.agent.deviceId);
  await platform.sql(`update device_state set last_seen_at = now() - interval '25 hours' where device_id = $1`, [
    again.deviceId,
  ]);
  await runJob(platform, 'devices/decommission-uninstalled');
  t.is(await lifecycleOf(again.deviceId), 'active');
});
