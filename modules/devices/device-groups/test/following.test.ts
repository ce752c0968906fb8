/** Dynamic groups follow their devices: every change that matters causes an evaluation, and no other does. */
import test from 'ava';
import { enrollAgent, enrollmentKey, startTestPlatform } from '#test';
import { runJob as runDeviceJob } from '../../devices/test/arrange.ts';
import { asPlatform, caller, enroll, heartbeat, place, where } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { call, dynamic, fixed, hosts, log, patchDevice, read, runJob } = caller(platform);

const waiting = (orgId: string) =>
  platform.sql<{ device_id: string; fields: string[] }>(
    'select device_id, fields from device_group_dirty where org_id = $1 order by id',
    [orgId],
  );
const drains = async (orgId: string) => {
  const [row] = await platform.sql<{ n: number }>(
    `select count(*)::int as n from graphile_worker.jobs where task_identifier = 'device-groups/drain-dirty'
       and key like 'device-groups-drain:' || $1 || '%'`,
    [orgId],
  );
  return row?.n;
};

test.serial('a change of a device is evaluated as soon as it is committed', async (t) => {
  const { token, id, orgId, siteId, secondSiteId } = await place(platform, 'web-1', 'db-1');
  const tagged = (await dynamic(token, where(['tags', 'hasAny', ['VIP client']]))).body.data.id;
  const named = (await dynamic(token, where(['displayName', 'equals', 'Desk']))).body.data.id;
  const second = (await dynamic(token, where(['siteId', 'equals', secondSiteId]))).body.data.id;
  const bound = (await dynamic(token, where(['osType', 'equals', 'linux']), { siteId })).body.data.id;
  const chosen = (await fixed(token, [id('web-1')], { siteId })).body.data.id;
  await patchDevice(token, id('web-1'), { tags: [' vip  CLIENT '], displayName: 'Desk', siteId: secondSiteId });
  t.is(await drains(orgId), 1);
  await platform.runJobs();
  for (const group of [tagged, named, second]) t.deepEqual(await hosts(token, group), ['web-1']);
  t.deepEqual(await hosts(token, bound), ['db-1'], 'the site of a group holds for dynamic ones');
  t.deepEqual(await hosts(token, chosen), [], 'and for static ones');
  t.true((await log(chosen)).includes('removed device_moved web-1'));
  t.deepEqual(await waiting(orgId), []);
  await patchDevice(token, id('web-1'), { tags: [] });
  await platform.runJobs();
  t.deepEqual(await hosts(token, tagged), []);
  t.is((await read(token, tagged)).deviceCount, 0);
});

test.serial('a new device, its hardware, addresses, software and custom values are evaluated', async (t) => {
  const { token, orgId, siteId } = await place(platform);
  await platform.call('POST', '/custom-fields', { token, body: { name: 'Rack', fieldKey: 'rack', type: 'text' } });
  const group = async (field: string, operator: string, value: string) =>
    (await dynamic(token, where([field, operator, value]))).body.data.id;
  const [linux, serial, address, software, rack, clean] = [
    await group('osType', 'equals', 'linux'),
    await group('hardware.serialNumber', 'equals', 'SN-1'),
    await group('network.ipAddress', 'startsWith', '10.0.0.'),
    await group('software.installed', 'contains', 'firefox'),
    await group('custom.rack', 'equals', 'R1'),
    await group('software.notInstalled', 'contains', 'firefox'),
  ];
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }), hostname: 'box' });
  await platform.runJobs();
  t.deepEqual(await hosts(token, linux), ['box']);
  t.deepEqual(await hosts(token, clean), ['box']);
  await agent.put('hardware', { snapshotHash: '1', serialNumber: 'SN-1' });
  await agent.put('network', { snapshotHash: '1', adapters: [{ name: 'eth0', ipv4: ['10.0.0.7'] }], complete: true });
  await agent.put('software', {
    snapshotHash: '1',
    software: [{ name: 'Mozilla Firefox', version: '1' }],
    complete: true,
  });
  await patchDevice(token, agent.deviceId, { customFields: { rack: 'R1' } });
  await platform.runJobs();
  for (const id of [serial, address, software, rack]) t.deepEqual(await hosts(token, id), ['box'], id);
  t.deepEqual(await hosts(token, clean), []);
  await agent.put('hardware', { snapshotHash: '2', serialNumber: 'SN-2' });
  await agent.put('network', { snapshotHash: '2', adapters: [{ name: 'eth0', ipv4: ['10.0.1.7'] }], complete: true });
  await agent.put('software', { snapshotHash: '2', software: [{ name: 'Chromium', version: '1' }], complete: true });
  await patchDevice(token, agent.deviceId, { customFields: { rack: null } });
  await platform.runJobs();
  for (const id of [serial, address, software, rack]) t.deepEqual(await hosts(token, id), [], id);
  t.deepEqual(await hosts(token, clean), ['box']);
});

test.serial('heartbeats queue a device only when something changed that a group uses', async (t) => {
  const { token, orgId, siteId } = await place(platform);
  const device = await enroll(platform, { orgId, siteId }, { hostname: 'box' });
  await dynamic(token, where(['osVersion', 'startsWith', '22'], ['status', 'equals', 'online']));
  await dynamic(token, where(['lastSeenAt', 'withinLast', { amount: 1, unit: 'hours' }]));
  await dynamic(token, where(['metrics.cpuPercent', 'greaterThan', 90]));
  await platform.runJobs();
  for (const cpuPercent of [10, 95, 99]) {
    await heartbeat(platform, device, {
      hostname: 'box',
      osVersion: '22.04',
      lastUser: 'ada',
      metrics: { cpuPercent },
    });
  }
  t.deepEqual(await waiting(orgId), []);
  await heartbeat(platform, device, { hostname: 'other', ip: '192.0.2.99' });
  t.deepEqual(await waiting(orgId), [], 'no group asks for names or addresses');
  await heartbeat(platform, device, { osVersion: '24.04' });
  t.deepEqual(await waiting(orgId), [{ device_id: device.deviceId, fields: ['osVersion'] }]);
  await heartbeat(platform, device, { osVersion: '26.04' });
  t.is((await waiting(orgId)).length, 1, 'what waits already is not put there again');
  await platform.runJobs();
  await platform.sql(`update device_state set last_seen_at = now() - interval '1 hour' where device_id = $1`, [
    device.deviceId,
  ]);
  t.deepEqual(await waiting(orgId), []);
  await runDeviceJob(platform, 'devices/sweep-silent');
  t.deepEqual(
    (await waiting(orgId)).map(({ fields }) => fields),
    [['status']],
  );
});

test.serial('an organization without groups that use what changed has an empty queue, and no job', async (t) => {
  const { token, id, orgId } = await place(platform, 'a');
  await fixed(token, [id('a')]);
  await patchDevice(token, id('a'), { tags: ['x'], displayName: 'y' });
  t.deepEqual(await waiting(orgId), []);
  t.is(await drains(orgId), 0);
});

test.serial('concurrent transactions on the queue lose nothing and do not wait for each other', async (t) => {
  const { token, id, orgId } = await place(platform, 'web-1');
  const group = (await dynamic(token, where(['displayName', 'equals', 'new']))).body.data.id;
  await patchDevice(token, id('web-1'), { displayName: 'old' });
  // The row is being taken off the queue, and its device was evaluated: a change at this moment needs a row of its own.
  const { owner } = platform.platform.tasks.work.database;
  const taking = await owner.connect();
  await taking.query('begin');
  await taking.query('delete from device_group_dirty where org_id = $1', [orgId]);
  await patchDevice(token, id('web-1'), { displayName: 'new' });
  await taking.query('commit');
  taking.release();
  t.is((await waiting(orgId)).length, 1);
  await platform.runJobs();
  t.deepEqual(await hosts(token, group), ['web-1']);
});

test.serial('a change while an older row waits keeps that row from being taken too early', async (t) => {
  const { token, id, orgId } = await place(platform, 'web-1');
  const group = (await dynamic(token, where(['displayName', 'equals', 'new']))).body.data.id;
  await patchDevice(token, id('web-1'), { displayName: 'old' });
  const { owner } = platform.platform.tasks.work.database;
  const writing = await owner.connect();
  await writing.query('begin');
  await writing.query(`update devices set display_name = 'new' where id = $1`, [id('web-1')]);
  await platform.runJobs();
  t.is((await waiting(orgId)).length, 1, 'it belongs to the one who has not committed yet');
  await writing.query('commit');
  writing.release();
  await platform.runJobs();
  t.deepEqual(await hosts(token, group), ['web-1']);
});

test.serial('the sweep finds a queue that no job has processed, and adds no jobs meanwhile', async (t) => {
  const { token, id, orgId } = await place(platform, 'web-1');
  const group = (await dynamic(token, where(['tags', 'hasAny', ['a', 'b']]))).body.data.id;
  await patchDevice(token, id('web-1'), { tags: ['a'] });
  await platform.sql(`delete from graphile_worker._private_jobs where key like 'device-groups-drain:%'`);
  await platform.sql(`update device_group_dirty set at = now() - interval '1 minute' where org_id = $1`, [orgId]);
  await patchDevice(token, id('web-1'), { tags: ['b'] });
  t.is(await drains(orgId), 0);
  await runJob('device-groups/sweep-dirty');
  t.deepEqual(await hosts(token, group), ['web-1']);
  t.deepEqual(await waiting(orgId), []);
});

test.serial('a decommissioned device leaves all groups, and a quarantined one all dynamic groups', async (t) => {
  const { token, id } = await place(platform, 'web-1', 'web-2');
  const followed = (await dynamic(token, where(['osType', 'equals', 'linux']))).body.data.id;
  const chosen = (await fixed(token, [id('web-1'), id('web-2')])).body.data.id;
  const pinned = (await dynamic(token, where(['osType', 'equals', 'macos']))).body.data.id;
  await call('POST', `/${pinned}/devices/${id('web-1')}/pin`, token, {});
  await call('POST', `/${pinned}/devices/${id('web-2')}/pin`, token, { mode: 'exclude' });
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [id('web-2')]);
  await platform.runJobs();
  t.deepEqual(await hosts(token, followed), ['web-1']);
  t.deepEqual(await hosts(token, chosen), ['web-1', 'web-2']);
  await platform.call('DELETE', `/devices/${id('web-1')}`, { token });
  // In the transaction that removes it, not in a later job.
  const [left] = await platform.sql<{ n: number }>(
    'select count(*)::int as n from device_group_members where device_id = $1',
    [id('web-1')],
  );
  t.is(left?.n, 0);
  for (const group of [followed, chosen, pinned]) {
    t.is((await log(group)).at(-1), 'removed device_removed web-1');
    t.is((await read(token, group)).deviceCount, group === chosen ? 1 : 0);
  }
  await platform.call('POST', `/devices/${id('web-1')}/restore`, { token });
  await platform.runJobs();
  t.deepEqual(await hosts(token, followed), ['web-1']);
  t.deepEqual(await hosts(token, pinned), []);
});

test.serial('a device that moves to another organization leaves every group of the old one at once', async (t) => {
  const mine = await place(platform, 'web-1');
  const theirs = await place(platform);
  const { token, id } = mine;
  const followed = (await dynamic(token, where(['osType', 'equals', 'linux']))).body.data.id;
  const chosen = (await fixed(token, [id('web-1')])).body.data.id;
  const there = (await dynamic(theirs.token, where(['osType', 'equals', 'linux']))).body.data.id;
  await platform.sql('update devices set org_id = $2, site_id = $3 where id = $1', [
    id('web-1'),
    theirs.orgId,
    theirs.siteId,
  ]);
  await platform.sql('update device_state set org_id = $2 where device_id = $1', [id('web-1'), theirs.orgId]);
  for (const group of [followed, chosen]) {
    t.is((await log(group)).at(-1), 'removed device_moved web-1');
    t.is((await read(token, group)).deviceCount, 0);
  }
  await platform.runJobs();
  t.deepEqual(await hosts(theirs.token, there), ['web-1']);
});

test.serial('changes of members are events for other modules', async (t) => {
  const { token, id, orgId } = await place(platform, 'web-1', 'web-2');
  const group = (await dynamic(token, where(['tags', 'hasAny', ['x']]))).body.data.id;
  await patchDevice(token, id('web-1'), { tags: ['x'] });
  await platform.runJobs();
  const events = await platform.sql<{ data: { groupId: string; added: string[]; evaluationId: string } }>(
    `select data from events where org_id = $1 and name = 'device-groups.membership.changed'`,
    [orgId],
  );
  t.like(events[0]?.data, { groupId: group, added: [id('web-1')], removed: [] });
  const [logged] = await platform.sql<{ evaluation_id: string; actor_type: string }>(
    'select evaluation_id, actor_type from device_group_membership_log where group_id = $1',
    [group],
  );
  t.deepEqual(logged, { evaluation_id: events[0]?.data.evaluationId ?? '', actor_type: 'system' });
  const answers = await asPlatform(platform, async (ctx) => {
    const groups = ctx.use('device-groups');
    return [
      (await groups.membersOf([group])).get(group),
      (await groups.groupsOf([id('web-1'), id('web-2')])).get(id('web-1')),
      await groups.missing(orgId, [group, id('web-1')]),
    ];
  });
  t.deepEqual(answers, [[id('web-1')], [group], [id('web-1')]]);
});

test('a merge moves the static memberships of the old device to the new one, and no others', async (t) => {
  const { id, token } = await place(platform, 'old', 'new', 'other');
  const kept = await fixed(token, [id('old'), id('other')]);
  const both = await fixed(token, [id('old'), id('new')]);
  const ruled = await dynamic(token, where(['hostname', 'equals', 'old']));
  await platform.sql(`update device_state set connectivity = 'offline' where device_id = $1`, [id('old')]);
  const merged = await platform.call('POST', `/devices/${id('old')}/merge`, {
    token,
    body: { intoDeviceId: id('new') },
  });
  t.is(merged.status, 200);
  await platform.runJobs();
  t.deepEqual((await hosts(token, kept.body.data.id)).sort(), ['new', 'other']);
  t.deepEqual(await hosts(token, both.body.data.id), ['new']);
  t.deepEqual(await hosts(token, ruled.body.data.id), []);
  t.is((await read(token, kept.body.data.id)).deviceCount, 2);
  t.is((await read(token, both.body.data.id)).deviceCount, 1);
  t.true((await log(kept.body.data.id)).includes('added manual new'));
});

test('a provisioned device is in the given static groups, before and after its agent enrolls', async (t) => {
  const { id, orgId, siteId, secondSiteId, token } = await place(platform, 'one');
  const kiosk = (await fixed(token, [id('one')])).body.data.id;
  const elsewhere = (await fixed(token, [], { siteId: secondSiteId })).body.data.id;
  const ruled = (await dynamic(token, where(['osType', 'equals', 'linux']))).body.data.id;
  const foreign = (await fixed((await place(platform)).token)).body.data.id;
  const provision = (groupIds: string[]) =>
    platform.call<{ deviceId: string; enrollment: { token: string } }>('POST', '/devices/provision', {
      token,
      body: { orgId, siteId, hostname: 'till', osType: 'linux', groupIds },
    });
  for (const wrong of [elsewhere, ruled, foreign]) t.is((await provision([kiosk, wrong])).status, 400);
  const { status, body } = await provision([kiosk]);
  t.is(status, 201);
  t.is((await read(token, kiosk)).deviceCount, 2);
  t.true((await log(kiosk)).includes('added enrollment till'));
  await enrollAgent(platform, { key: body.enrollment.token, hostname: 'till' });
  t.deepEqual((await hosts(token, kiosk)).sort(), ['one', 'till']);
  const limited = await platform.sql(`select 1 from devices where org_id = $1 and hostname = 'till'`, [orgId]);
  t.is(limited.length, 1, 'the refused ones left nothing');
});
