/** Moving a device to another organization of its partner. */
import test from 'ava';
import {
  apiKey,
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  organization,
  orgUser,
  partnerUser,
  startTestPlatform,
  systemUser,
  tenant,
  until,
} from '#test';
import { openPeer } from '../../../agents/agents/test/socket-client.ts';
import type { DeviceFollower } from '../slots/follower.ts';
import { enroll, eventsOf, refusalOf } from './arrange.ts';

interface Detail {
  data: Record<string, unknown> & { recentMetrics: object[]; groups: object[] };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

async function arrange() {
  const place = await tenant(platform);
  const target = await organization(platform, place.partnerId);
  const agent = await enrollAgent(platform, { key: await enrollmentKey(platform, place), hostname: 'mover' });
  return { ...place, target, agent, id: agent.deviceId, token: place.partner.token };
}
const move = (token: string, id: string, body: object) =>
  platform.call<Detail & ErrorBody>('POST', `/devices/${id}/move-org`, { token, body });
const orgsOf = async (table: string, id: string) =>
  (await platform.sql<{ org_id: string }>(`select distinct org_id from ${table} where device_id = $1`, [id])).map(
    ({ org_id }) => org_id,
  );

test('the current state moves, the history stays, and both organizations have an event', async (t) => {
  const { agent, id, token, orgId, target, partnerId } = await arrange();
  await agent.put('software', { software: [{ name: 'editor', version: '1' }], complete: true });
  await agent.put('hardware', { serialNumber: 'SN', ramTotalMb: 4096 });
  await agent.put('network', { adapters: [{ name: 'eth0', ipv4: ['10.0.0.9'], isPrimary: true }], complete: true });
  await agent.heartbeat({ status: 'ok', agentVersion: '1.0.1', metrics: { cpuPercent: 5 } });
  await platform.call('POST', `/devices/${id}/commands`, { token, body: { type: 'lock' } });
  const [group] = [
    await platform.call<{ data: { id: string } }>('POST', '/groups', {
      token,
      body: { orgId, name: 'Old', type: 'static', deviceIds: [id] },
    }),
  ];
  t.is(group?.status, 201);
  const moved = await move(token, id, { ...target, reason: 'sold' });
  t.is(moved.status, 200);
  t.like(moved.body.data, { orgId: target.orgId, siteId: target.siteId, hostname: 'mover', groups: [] });
  const going = ['state', 'hardware', 'snapshots', 'network_interfaces', 'software'].map((name) => `device_${name}`);
  for (const table of [...going, 'agent_credentials']) t.deepEqual(await orgsOf(table, id), [target.orgId], table);
  for (const table of ['device_commands', 'device_metrics', 'device_changes', 'device_ip_history'])
    t.deepEqual(await orgsOf(table, id), [orgId], table);
  const [command] = await platform.sql('select status from device_commands where device_id = $1', [id]);
  t.is(command?.status, 'cancelled');
  // The new customer sees the device without its history; the old one sees nothing.
  const [there, before] = await Promise.all([orgUser(platform, { orgId: target.orgId }), orgUser(platform, { orgId })]);
  const seen = await platform.call<Detail>('GET', `/devices/${id}`, { token: there.token });
  t.deepEqual(seen.body.data.recentMetrics, []);
  for (const list of ['commands', 'changes']) {
    const { body } = await platform.call<{ data: object[] }>('GET', `/devices/${id}/${list}`, { token: there.token });
    t.deepEqual(body.data, [], list);
  }
  const metrics = await platform.call<{ data: { points: object[] } }>('GET', `/devices/${id}/metrics`, {
    token: there.token,
  });
  t.deepEqual(metrics.body.data.points, []);
  t.is((await platform.call('GET', `/devices/${id}`, { token: before.token })).status, 404);
  const audits = (await platform.audits())
    .filter(({ action, resource_id }) => action.startsWith('device.move_org') && resource_id === id)
    .sort((a, b) => a.action.localeCompare(b.action));
  t.deepEqual(
    audits.map(({ action, org_id, details }) => [action, org_id, details.fromOrgId, details.toOrgId, details.reason]),
    [
      ['device.move_org.source', orgId, orgId, target.orgId, 'sold'],
      ['device.move_org.target', target.orgId, orgId, target.orgId, 'sold'],
    ],
  );
  const told = await platform.sql<{ org_id: string; data: { direction: string } }>(
    `select org_id, data from events where name = 'devices.moved' and device_id = $1`,
    [id],
  );
  t.deepEqual(
    told.map(({ org_id, data }) => [org_id, data.direction]).sort(),
    [
      [orgId, 'out'],
      [target.orgId, 'in'],
    ].sort(),
  );
  t.is(partnerId.length, 36);
});

test('the tokens of the agent stay valid, and its reports belong to the new organization', async (t) => {
  const { agent, id, token, target } = await arrange();
  await move(token, id, target);
  t.is((await agent.heartbeat({ status: 'ok', agentVersion: '2.0.0', metrics: { cpuPercent: 7 } })).status, 200);
  t.is((await agent.put('software', { software: [{ name: 'a', version: '1' }], complete: true })).status, 200);
  t.is((await agent.put('network', { adapters: [{ name: 'eth0', ipv4: ['10.0.0.9'] }], complete: true })).status, 200);
  t.is((await agent.call('POST', 'rotate-token', {})).status, 200);
  const sent = await platform.call<{ data: { id: string } }>('POST', `/devices/${id}/commands`, {
    token,
    body: { type: 'lock' },
  });
  const [command] = await agent.commands();
  t.is(command?.id, sent.body.data.id);
  t.is((await agent.result(command?.id ?? '')).status, 200);
  t.true((await orgsOf('device_metrics', id)).includes(target.orgId));
  t.deepEqual(await orgsOf('device_commands', id), [target.orgId]);
});

test('the connection of the agent is closed, and the next one belongs to the new organization', async (t) => {
  const { agent, id, token, target } = await arrange();
  const peer = await openPeer(platform.url, agent.agentId, agent.token);
  // The server reads the organization of a connection after it has accepted it.
  await until(async () => (await orgsOf('agent_connections', id)).length === 1);
  t.is((await move(token, id, target)).status, 200);
  t.is((await peer.closed).reason, 'moved');
  t.deepEqual(await orgsOf('agent_connections', id), [target.orgId]);
  const again = await openPeer(platform.url, agent.agentId, agent.token);
  await platform.call('POST', `/devices/${id}/commands`, { token, body: { type: 'lock' } });
  t.like(await again.next('command'), { frame: 'command' });
  await again.close();
});

test('tags move along, unless the organization that the device leaves clears them', async (t) => {
  for (const clearTagsOnMove of [false, true]) {
    const { id, token, orgId, target } = await arrange();
    const settings = { devices: { clearTagsOnMove } };
    await platform.sql('update organizations set settings = settings || $2 where id = $1', [orgId, settings]);
    await platform.call('PATCH', `/devices/${id}`, { token, body: { tags: ['vip'] } });
    const moved = await move(token, id, target);
    t.deepEqual(moved.body.data.tags, clearTagsOnMove ? [] : ['vip']);
    const [entry] = await platform.audits({ action: 'device.move_org.source', orgId });
    t.deepEqual(entry?.details.clearedTags, clearTagsOnMove ? ['vip'] : []);
  }
});

test('custom values move if the new organization has their fields; the audit entry lists the others', async (t) => {
  const { id, token, orgId, partnerId, target } = await arrange();
  const field = (body: object) => platform.call('POST', '/custom-fields', { token, body: { type: 'text', ...body } });
  await field({ name: 'Own', fieldKey: 'own', orgId });
  await field({ name: 'Shared', fieldKey: 'shared', partnerId });
  const set = await platform.call('PATCH', `/devices/${id}`, {
    token,
    body: { customFields: { own: 'a', shared: 'b' } },
  });
  t.is(set.status, 200);
  const moved = await move(token, id, target);
  t.deepEqual(moved.body.data.customFields, { shared: 'b' });
  const [audit] = await platform.audits({ action: 'device.move_org.source', orgId });
  t.deepEqual(audit?.details.droppedCustomFields, ['own']);
});

test('an invalid move is an error and changes nothing', async (t) => {
  const { id, token, orgId, siteId, target, partnerId, partnerRoleId, orgAdmin } = await arrange();
  const other = await tenant(platform);
  const code = async (as: string, body: object) => refusalOf(await move(as, id, body));
  t.deepEqual(await code(token, { orgId, siteId }), [400, 'SAME_ORG']);
  t.deepEqual(await code(token, { orgId: other.orgId, siteId: other.siteId }), [403, 'ORG_ACCESS_DENIED']);
  const admin = await systemUser(platform);
  t.deepEqual(await code(admin.token, { orgId: other.orgId, siteId: other.siteId }), [403, 'CROSS_PARTNER']);
  t.deepEqual(await code(admin.token, { orgId: siteId, siteId }), [404, 'NOT_FOUND']);
  t.deepEqual(await code(token, { orgId: target.orgId, siteId }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, { orgId: target.orgId }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(token, { ...target, keepGroups: true }), [400, 'VALIDATION_ERROR']);
  t.deepEqual(await code(orgAdmin.token, target), [403, 'FORBIDDEN']);
  t.deepEqual(await code(other.partner.token, target), [404, 'NOT_FOUND']);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: partnerRoleId,
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  t.deepEqual(await code(some.token, target), [403, 'ORG_ACCESS_DENIED']);
  const [role] = await platform.sql<{ id: string }>(
    `insert into roles (partner_id, scope, name) values ($1, 'partner', 'Devices only') returning id`,
    [partnerId],
  );
  await platform.sql(
    `insert into role_permissions (role_id, permission_id)
     select $1, id from permissions where resource = 'devices'`,
    [role?.id],
  );
  const narrow = await partnerUser(platform, { partnerId, roleId: role?.id ?? '' });
  t.deepEqual(await code(narrow.token, target), [403, 'FORBIDDEN']);
  await platform.sql('update organizations set max_devices = 0 where id = $1', [target.orgId]);
  t.deepEqual(await code(token, target), [403, 'DEVICE_LIMIT_REACHED']);
  await platform.sql('update organizations set max_devices = null where id = $1', [target.orgId]);
  await platform.call('DELETE', `/devices/${id}`, { token });
  t.deepEqual(await code(token, target), [409, 'INVALID_STATE']);
  t.deepEqual(await orgsOf('device_state', id), [orgId]);
  t.false((await eventsOf(platform, id)).includes('devices.moved'));
  const key = await apiKey(platform, {
    orgId,
    createdBy: orgAdmin.id,
    scopes: ['devices:write', 'organizations:write'],
  });
  t.is((await platform.call('POST', `/devices/${id}/move-org`, { apiKey: key, body: target })).status, 403);
});

test('another module can prevent a move, and a move does not count against the limit of the partner', async (t) => {
  const { id, token, orgId, partnerId, target } = await arrange();
  await platform.sql('update partners set max_devices = 1 where id = $1', [partnerId]);
  const session: DeviceFollower = { holds: async (_ctx, deviceId) => (deviceId === id ? 'remote_session' : null) };
  const { work } = platform.platform.tasks;
  const contributions = work.contributions;
  work.contributions = (slot) => [...contributions.call(work, slot), ...(slot === 'devices.follower' ? [session] : [])];
  t.teardown(() => {
    work.contributions = contributions;
  });
  const refused = await move(token, id, target);
  t.deepEqual(refusalOf(refused), [409, 'INVALID_STATE']);
  t.like(refused.body.error.details[0], { current: 'remote_session' });
  t.deepEqual(await orgsOf('device_state', id), [orgId]);
  work.contributions = contributions;
  t.is((await move(token, id, target)).status, 200);
});

test('of two concurrent moves one succeeds, and a move does not deadlock with enrollments', async (t) => {
  const place = await tenant(platform);
  const [one, two] = [await organization(platform, place.partnerId), await organization(platform, place.partnerId)];
  await platform.sql('update organizations set max_devices = 100 where partner_id = $1', [place.partnerId]);
  const devices = await Promise.all(Array.from({ length: 4 }, () => enroll(platform, place)));
  const moves = devices.flatMap(({ deviceId }) => [one, two].map((to) => move(place.partner.token, deviceId, to)));
  const enrolled = Promise.all([place, one, two].map((at) => enroll(platform, at)));
  const answers = await Promise.all(moves);
  await enrolled;
  t.true(
    answers.every(({ status }) => status === 200 || status === 404 || status === 400),
    answers.map((a) => a.status).join(),
  );
  const left = await platform.sql('select 1 from devices where org_id = $1', [place.orgId]);
  t.is(left.length, 1);
});
