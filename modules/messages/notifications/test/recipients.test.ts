/** Who hears of what: reach, permissions, preferences, and never more than once. */
import test from 'ava';
import { organization, orgUser, partnerUser, ROLES, startTestPlatform, systemUser } from '#test';
import { openTenant } from './ground.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const QUARANTINE = { hostname: 'pc', reason: 'The key wants approval' };
const SILENT = { hostname: 'pc' };

test.serial('people of the organization and of its partner hear of its devices, nobody else', async (t) => {
  const at = await openTenant(platform);
  const elsewhere = await openTenant(platform);
  const other = await organization(platform, at.partnerId);
  const [neighbour, selected, none, admin] = await Promise.all([
    orgUser(platform, { orgId: other.orgId }),
    partnerUser(platform, { ...at, roleId: at.partnerRoleId, orgAccess: 'selected', orgIds: [at.orgId] }),
    partnerUser(platform, { ...at, roleId: at.partnerRoleId, orgAccess: 'selected', orgIds: [other.orgId] }),
    systemUser(platform),
  ]);
  const deviceId = await at.device();
  await at.tell('devices.main_agent_silent', SILENT, { siteId: at.siteId, deviceId });
  for (const person of [at.orgAdmin, at.viewer, at.partner, selected]) {
    const { notifications, unreadCount } = await at.inbox(person);
    t.is(notifications.length, 1, person.email);
    t.is(unreadCount, 1);
    t.like(notifications[0], { orgId: at.orgId, deviceId, type: 'device', priority: 'normal', count: 1, read: false });
  }
  for (const person of [neighbour, none, admin, elsewhere.partner, elsewhere.orgAdmin]) {
    t.is((await at.inbox(person)).notifications.length, 0, person.email);
  }
});

test.serial(
  'who is limited to sites or groups hears only of devices there, and of nothing that concerns the organization',
  async (t) => {
    const at = await openTenant(platform);
    const branch = await at.site();
    const [here, there] = [await at.device(at.siteId), await at.device(branch)];
    const [group] = await platform.sql<{ id: string }>(
      `insert into device_groups (org_id, name, type) values ($1, 'Servers', 'static') returning id`,
      [at.orgId],
    );
    await platform.sql(
      'insert into device_group_members (group_id, device_id, org_id, added_by) values ($1, $2, $3, $4)',
      [group?.id, there, at.orgId, 'manual'],
    );
    const bySite = await orgUser(platform, { orgId: at.orgId, siteIds: [branch] });
    const byGroup = await orgUser(platform, { orgId: at.orgId, deviceGroupIds: [group?.id ?? ''] });
    const byBoth = await orgUser(platform, {
      orgId: at.orgId,
      siteIds: [at.siteId],
      deviceGroupIds: [group?.id ?? ''],
    });
    // Without the site: what the fan-out does not know of the device it looks up.
    await at.tell('devices.main_agent_silent', SILENT, { deviceId: here });
    await at.tell('devices.main_agent_silent', SILENT, { deviceId: there });
    await at.tell('devices.outage', { offline: 9, of: 10 });
    const heard = async (person: typeof bySite) =>
      (await at.inbox(person)).notifications.map(({ deviceId }) => deviceId);
    t.deepEqual(await heard(bySite), [there]);
    t.deepEqual(await heard(byGroup), [there]);
    t.deepEqual(await heard(byBoth), []);
    t.is((await heard(at.orgAdmin)).length, 3);
  },
);

test.serial(
  'what its subject may not be looked at by is not told: invitations, and devices that wait for approval',
  async (t) => {
    const at = await openTenant(platform);
    const [role] = await platform.sql<{ id: string }>(
      `with made as (insert into roles (org_id, scope, name) values ($1, 'organization', 'Devices only') returning id),
       holds as (insert into role_permissions (role_id, permission_id)
         select made.id, p.id from made, permissions p where p.resource = 'devices' and p.action in ('view', 'update'))
     select id from made`,
      [at.orgId],
    );
    const keeper = await orgUser(platform, { orgId: at.orgId, roleId: role?.id ?? '' });
    await at.tell('devices.quarantined', QUARANTINE, { deviceId: await at.device() });
    await at.tell('users.joined', { userId: keeper.id, roleId: ROLES.viewer, partnerId: null });
    const types = async (person: typeof keeper) =>
      (await at.inbox(person)).notifications.map(({ type }) => type).sort();
    t.deepEqual(await types(at.orgAdmin), ['device', 'security']);
    t.deepEqual(await types(keeper), ['device']);
    // A viewer looks at devices and at users, and approves nothing.
    t.deepEqual(await types(at.viewer), ['security']);
  },
);

test.serial('who did it is not told', async (t) => {
  const at = await openTenant(platform);
  await at.tell('users.removed', { userId: at.viewer.id, partnerId: null }, { by: at.orgAdmin });
  t.is((await at.inbox(at.orgAdmin)).notifications.length, 0);
  t.is((await at.inbox(at.partner)).notifications.length, 1);
});

test.serial(
  'what concerns a partner is for its people with access to all, and what concerns the installation for system users',
  async (t) => {
    const at = await openTenant(platform);
    const admin = await systemUser(platform);
    const selected = await partnerUser(platform, {
      ...at,
      roleId: at.partnerRoleId,
      orgAccess: 'selected',
      orgIds: [at.orgId],
    });
    await at.tell('features.trial.ended', { partnerId: at.partnerId, key: 'sso' }, { orgId: null });
    await at.tell(
      'queue.health.changed',
      { rule: 'snapshot', subject: 'x', before: 'ok', level: 'critical', detail: 'late' } as never,
      { orgId: null },
    );
    t.is((await at.inbox(at.partner)).notifications[0]?.title, 'The trial of sso has ended');
    t.is((await at.inbox(selected)).notifications.length, 0);
    t.is((await at.inbox(at.orgAdmin)).notifications.length, 0);
    t.deepEqual(
      (await at.inbox(admin)).notifications.map(({ type, priority }) => [type, priority]),
      [['system', 'high']],
    );
  },
);

test.serial(
  'preferences decide: types, priorities and organizations; system users hear of those that they name',
  async (t) => {
    const at = await openTenant(platform);
    const admin = await systemUser(platform);
    const other = await organization(platform, at.partnerId);
    await at.prefer(at.orgAdmin, { type: 'device', minPriority: 'high' });
    await at.prefer(at.partner, { type: 'device', orgIds: [other.orgId] });
    await at.prefer(at.viewer, { type: 'device', inApp: false });
    await at.prefer(admin, { type: 'device', orgIds: [at.orgId] });
    await at.tell('devices.main_agent_silent', SILENT, { deviceId: await at.device() });
    for (const person of [at.orgAdmin, at.partner, at.viewer]) {
      t.is((await at.inbox(person)).notifications.length, 0, person.email);
    }
    t.is((await at.inbox(admin)).notifications.length, 1);
    await at.tell('devices.outage', { offline: 9, of: 10 });
    t.is((await at.inbox(at.orgAdmin)).notifications[0]?.priority, 'urgent');
  },
);

test.serial('more than one batch of people hear of it, each once, also when the job runs twice', async (t) => {
  const at = await openTenant(platform);
  await platform.sql(
    `with made as (insert into users (email, name) select 'u' || n || '-' || $1 || '@example.com', 'U' from generate_series(1, 620) n
       returning id)
     insert into organization_users (org_id, user_id, role_id) select $1::uuid, id, $2 from made`,
    [at.orgId, ROLES.orgAdmin],
  );
  await at.tell('devices.main_agent_silent', SILENT, { deviceId: await at.device() });
  const count = async () =>
    (
      await platform.sql<{ n: number; users: number }>(
        'select count(*)::int as n, count(distinct user_id)::int as users from user_notifications where org_id = $1',
        [at.orgId],
      )
    )[0];
  // The people above, the organization's two, and the partner's.
  t.deepEqual(await count(), { n: 623, users: 623 });
  const [{ id } = { id: '' }] = await platform.sql<{ id: string }>(
    `select e.id from events e join notification_fanouts f on f.event_id = e.id where e.org_id = $1`,
    [at.orgId],
  );
  await platform.sql(
    `select graphile_worker.add_job('notifications/fan-out', json_build_object('orgId', null, 'requestId', 'x',
       'data', json_build_object('eventId', $1::text)))`,
    [id],
  );
  await platform.runJobs();
  t.deepEqual(await count(), { n: 623, users: 623 });
  const [{ most } = { most: 0 }] = await platform.sql<{ most: number }>(
    'select max(count) as most from user_notifications where org_id = $1',
    [at.orgId],
  );
  t.is(most, 1);
});
