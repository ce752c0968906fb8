/** Inviting people, and inviting them again. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import {
  apiKey,
  type ErrorBody,
  organization,
  orgUser,
  partnerUser,
  ROLES,
  startTestPlatform,
  systemUser,
  tenant,
} from '#test';
import type { DeviceGroupDirectory } from '../models/limits.ts';
import { anAddress, caller, mailsTo, onPlatform, role, tokenFor, tokenIn } from './arrange.ts';

const platform = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());
const { as, invite, list, open } = caller(platform);

/** Stands in for the module that keeps device groups: knows these. */
const groups = new Set<string>();
const directory: DeviceGroupDirectory = {
  missing: async (_ctx, orgId, ids) => ids.filter((id) => !groups.has(`${orgId} ${id}`)),
};
const { work } = platform.platform.tasks;
const filled = work.contributions;
work.contributions = (slot) => (slot === 'users.device-groups' ? [directory] : filled(slot));

const paths = ({ error }: ErrorBody) => error.details.map(({ path }) => path);
const counts = async () => {
  const [row] = await platform.sql<{ users: number; places: number }>(
    `select (select count(*)::int from users) as users,
       (select count(*)::int from organization_users) + (select count(*)::int from partner_users) as places`,
  );
  return row;
};

test.serial(
  'an invitation makes no account and no association, and answers alike for an address known elsewhere',
  async (t) => {
    const { orgAdmin, orgId } = await tenant(platform);
    const elsewhere = await tenant(platform);
    const before = await counts();
    const unknown = await invite(orgAdmin.token, { email: ' New.Person@Example.com ' });
    const known = await invite(orgAdmin.token, { email: elsewhere.viewer.email.toUpperCase() });
    t.is(unknown.status, 201);
    t.is(known.status, 201);
    t.deepEqual(await counts(), before);
    const strip = ({ id: _, email: __, createdAt: ___, invitationExpiresAt: ____, ...rest }: typeof known.body) => rest;
    t.deepEqual(strip(known.body), strip(unknown.body));
    t.is(unknown.body.email, 'new.person@example.com');
    t.not(known.body.id, elsewhere.viewer.id);
    t.like(unknown.body, { status: 'invited', roleId: ROLES.viewer, siteIds: null, deviceGroupIds: null });
    const audits = await platform.audits({ orgId, action: 'user.invite' });
    t.deepEqual(
      audits.map((row) => row.resource_id),
      [unknown.body.id, known.body.id],
    );
    t.is(audits[0]?.actor_id, orgAdmin.id);
  },
);

test('a place in an organization may be limited to its sites and device groups, and to nothing else', async (t) => {
  const { orgAdmin, orgId, siteId, partner } = await tenant(platform);
  const other = await tenant(platform);
  const groupId = randomUUID();
  groups.add(`${orgId} ${groupId}`);
  const made = await invite(orgAdmin.token, { siteIds: [siteId], deviceGroupIds: [groupId] });
  t.deepEqual([made.body.siteIds, made.body.deviceGroupIds], [[siteId], [groupId]]);
  for (const all of [null, []]) {
    const unlimited = await invite(orgAdmin.token, { siteIds: all, deviceGroupIds: all });
    t.like(unlimited.body, { siteIds: null, deviceGroupIds: null }, 'an empty list limits nothing, as null');
  }
  const refused = async (body: object, path: string, token = orgAdmin.token) => {
    const answer = await invite(token, body);
    t.is(answer.status, 400, path);
    t.deepEqual(paths(answer.body), [path]);
  };
  await refused({ siteIds: [siteId, other.siteId] }, 'siteIds');
  await refused({ siteIds: [siteId, siteId] }, 'siteIds.1');
  await refused({ deviceGroupIds: [groupId, randomUUID()] }, 'deviceGroupIds');
  await refused({ orgAccess: 'all' }, 'orgAccess');
  await refused({ orgIds: [orgId] }, 'orgIds');
  await refused({ orgAccess: 'all', orgId }, 'orgAccess', partner.token);
  await refused({ email: 'nobody' }, 'email');
  await refused({ name: 'Two\nlines' }, 'name');
  await refused({ name: '' }, 'name');
  await refused({ color: 'red' }, 'color');
});

test('a place in a partner names the organizations it reaches', async (t) => {
  const { partner, partnerId, partnerRoleId: roleId, orgId, siteId } = await tenant(platform);
  const other = await tenant(platform);
  const gone = await organization(platform, partnerId);
  await platform.sql('update organizations set deleted_at = now() where id = $1', [gone.orgId]);
  const refused = async (body: object, path: string) => {
    const answer = await invite(partner.token, { roleId, ...body });
    t.is(answer.status, 400, JSON.stringify(body));
    t.deepEqual(paths(answer.body), [path]);
  };
  await refused({}, 'orgAccess');
  await refused({ orgAccess: 'selected' }, 'orgIds');
  await refused({ orgAccess: 'selected', orgIds: [] }, 'orgIds');
  await refused({ orgAccess: 'selected', orgIds: [other.orgId] }, 'orgIds');
  await refused({ orgAccess: 'selected', orgIds: [orgId, gone.orgId] }, 'orgIds');
  await refused({ orgAccess: 'all', orgIds: [orgId] }, 'orgIds');
  await refused({ orgAccess: 'none', orgIds: [orgId] }, 'orgIds');
  await refused({ orgAccess: 'all', siteIds: [siteId] }, 'siteIds');
  await refused({ orgAccess: 'all', deviceGroupIds: null }, 'deviceGroupIds');
  const made = await invite(partner.token, { roleId, orgAccess: 'selected', orgIds: [orgId] });
  t.is(made.status, 201);
  t.like(made.body, { orgAccess: 'selected', orgIds: [orgId] });
  await platform.audits();
  const trail = await platform.sql(
    `select org_id, partner_id from audit_logs where action = 'user.invite' and resource_id = $1`,
    [made.body.id],
  );
  t.deepEqual(trail, [{ org_id: null, partner_id: partnerId }]);
});

test('a role of elsewhere is not found, and one that grants more than the caller holds is refused', async (t) => {
  const { orgAdmin, orgId, partner, partnerRoleId } = await tenant(platform);
  const other = await tenant(platform);
  const foreign = await role(platform, { orgId: other.orgId }, ['devices:view']);
  const inviting = await role(platform, { orgId }, ['users:create', 'devices:view']);
  const clerk = await orgUser(platform, { orgId, roleId: inviting });
  const plain = await role(platform, { orgId }, ['devices:view']);
  for (const roleId of [foreign, partnerRoleId, ROLES.systemAdmin, randomUUID()]) {
    t.is((await invite(orgAdmin.token, { roleId })).status, 404);
  }
  t.is((await invite(partner.token, { roleId: ROLES.viewer, orgAccess: 'all' })).status, 404);
  const refused = await invite(clerk.token, { roleId: ROLES.technician });
  t.is(refused.status, 403);
  t.true(paths(refused.body).every((path) => path === 'roleId'));
  t.is((await invite(clerk.token, { roleId: plain })).status, 201);
  const key = await apiKey(platform, { orgId, scopes: ['users:invite', 'devices:read'], createdBy: orgAdmin.id });
  const byKey = (roleId: string) =>
    platform.call('POST', '/users/invite', { apiKey: key, body: { email: anAddress(), name: 'Key', roleId } });
  t.is((await byKey(plain)).status, 201);
  t.is((await byKey(ROLES.viewer)).status, 403);
});

test('who is limited to sites or groups invites into their own only', async (t) => {
  const { orgId, siteId, partnerId } = await tenant(platform);
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Second') returning id`,
    [orgId],
  );
  const mine = randomUUID();
  const others = randomUUID();
  for (const id of [mine, others]) groups.add(`${orgId} ${id}`);
  const bySite = await orgUser(platform, { orgId, siteIds: [siteId] });
  const byGroup = await orgUser(platform, { orgId, deviceGroupIds: [mine] });
  const code = async (token: string, body: object) => (await invite(token, body)).body.error?.code;
  t.is(await code(bySite.token, {}), 'SITE_ACCESS_DENIED');
  t.is(await code(bySite.token, { siteIds: [siteId, second?.id] }), 'SITE_ACCESS_DENIED');
  t.is((await invite(bySite.token, { siteIds: [siteId] })).status, 201);
  t.is(await code(byGroup.token, { siteIds: [siteId] }), 'TARGET_OUT_OF_SCOPE');
  t.is(await code(byGroup.token, { deviceGroupIds: [others] }), 'TARGET_OUT_OF_SCOPE');
  t.is((await invite(byGroup.token, { deviceGroupIds: [mine] })).status, 201);
  const some = await partnerUser(platform, {
    partnerId,
    roleId: await role(platform, { partnerId }, ['users:create']),
    orgAccess: 'selected',
    orgIds: [orgId],
  });
  t.is(
    (await invite(some.token, { orgAccess: 'all' })).body.error.message,
    'Full partner organization access required',
  );
});

test('a member, and somebody invited already, is refused in this scope only', async (t) => {
  const { orgAdmin, viewer, partner, partnerId, partnerRoleId } = await tenant(platform);
  const refused = await invite(orgAdmin.token, { email: viewer.email.toUpperCase() });
  t.is(refused.status, 409);
  t.is(refused.body.error.message, 'User already exists in this scope');
  const email = anAddress();
  t.is((await invite(orgAdmin.token, { email })).status, 201);
  t.is((await invite(orgAdmin.token, { email })).status, 409);
  const other = await organization(platform, partnerId);
  t.is((await invite(partner.token, { email, orgId: other.orgId })).status, 201);
  const above = { email, roleId: partnerRoleId, orgAccess: 'all' };
  t.is((await invite(partner.token, above)).status, 201);
  t.is((await invite(partner.token, above)).status, 409);
  t.is((await invite(partner.token, { ...above, email: partner.email })).status, 409);
});

test('of two invitations of one address at the same time one is made', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const email = anAddress();
  const both = await Promise.all([invite(orgAdmin.token, { email }), invite(orgAdmin.token, { email })]);
  t.deepEqual(both.map(({ status }) => status).sort(), [201, 409]);
  t.is((await list(orgAdmin.token, 'status=invited')).data.length, 1);
});

test('the tenant that is invited to must be named, reached and there', async (t) => {
  const { orgId, partnerId, partner, partnerRoleId } = await tenant(platform);
  const stranger = await tenant(platform);
  const admin = await systemUser(platform);
  t.is((await invite(admin.token)).body.error.message, 'Partner or organization context required');
  t.is((await invite(admin.token, { orgId, partnerId })).status, 400);
  t.is((await invite(admin.token, { orgId: randomUUID() })).status, 404);
  t.is((await invite(admin.token, { partnerId: randomUUID(), orgAccess: 'all' })).status, 404);
  t.is((await invite(admin.token, { orgId })).status, 201);
  t.is((await invite(admin.token, { partnerId, roleId: partnerRoleId, orgAccess: 'none' })).status, 201);
  t.is((await invite(stranger.partner.token, { orgId })).status, 403);
  t.is((await invite(stranger.orgAdmin.token, { orgId })).status, 403);
  await platform.sql('update organizations set deleted_at = now() where id = $1', [orgId]);
  t.is((await invite(admin.token, { orgId })).status, 404);
  t.is((await invite(partner.token, { orgId })).status, 403);
});

test('an actor invites a hundred people an hour, then hears when to come back', async (t) => {
  const { orgAdmin, viewer, orgId } = await tenant(platform);
  for (let n = 0; n < 100; n += 1) await invite(orgAdmin.token, { email: viewer.email });
  const { status, body, headers } = await platform.call<{ retryAfter: number } & ErrorBody>('POST', '/users/invite', {
    token: orgAdmin.token,
    body: { email: anAddress(), name: 'One more', roleId: ROLES.viewer },
  });
  t.is(status, 429);
  t.is(body.error.code, 'RATE_LIMITED');
  t.true(body.retryAfter > 0 && body.retryAfter <= 3600);
  t.is(headers.get('retry-after'), String(body.retryAfter));
  const colleague = await orgUser(platform, { orgId });
  t.is((await invite(colleague.token)).status, 201);
});

test.serial('the mail carries the link, whose token is stored as a hash only and never lay in the queue', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  await platform.sql(`update organizations set name = 'Contoso' where id = $1`, [orgId]);
  const { body } = await invite(orgAdmin.token, { email: anAddress() });
  const queued = await platform.sql<{ payload: object }>(
    `select payload from graphile_worker._private_jobs where payload::text like '%' || $1 || '%'`,
    [body.id],
  );
  t.is(queued.length, 1);
  t.notRegex(JSON.stringify(queued), /inv_/);
  const [mail = '', ...more] = await mailsTo(platform, body.email);
  t.is(more.length, 0);
  t.regex(mail, /Subject: Invitation to Contoso\n/);
  t.regex(mail, /http:\/\/localhost:3000\/accept-invite\?token=inv_[\w-]{43}\n/);
  const [row] = await platform.sql<{ row: string }>('select i::text as row from invitations i where id = $1', [
    body.id,
  ]);
  t.false(row?.row.includes(tokenIn(mail).slice(4)));
});

test.serial(
  'a link sent again is a new one, the older is worthless, and a member cannot be invited again',
  async (t) => {
    const { orgAdmin, viewer, orgId } = await tenant(platform);
    const { body } = await invite(orgAdmin.token);
    const older = await tokenFor(platform, body.email);
    const again = (userId = body.id, token = orgAdmin.token) => as(token, 'POST', '/users/resend-invite', { userId });
    t.is((await again()).status, 200);
    t.is((await open('invitations/check', { token: older })).status, 400, 'worthless before the new one is mailed');
    const newer = await tokenFor(platform, body.email);
    t.not(newer, older);
    t.is((await open('invitations/check', { token: newer })).status, 200);
    const member = await again(viewer.id);
    t.is(member.status, 409);
    t.deepEqual(member.body.error.details, [{ current: 'active', allowed: ['invited'] }] as never);
    t.is((await again(randomUUID())).status, 404);
    const stranger = await tenant(platform);
    t.is((await again(body.id, stranger.orgAdmin.token)).status, 404);
    t.is((await platform.audits({ orgId, action: 'user.invite.resend' })).length, 1);
  },
);

test.serial('an expired invitation stays listed and can be sent again, for ninety days', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const token = await tokenFor(platform, body.email);
  const age = (days: number) =>
    platform.sql(`update invitations set expires_at = now() - make_interval(days => $2) where id = $1`, [
      body.id,
      days,
    ]);
  await age(89);
  t.is((await open('invitations/check', { token })).body.error.code, 'INVITATION_INVALID');
  await runSweep();
  t.is((await list(orgAdmin.token, 'status=invited')).data.length, 1);
  t.is((await as(orgAdmin.token, 'POST', '/users/resend-invite', { userId: body.id })).status, 200);
  t.is((await open('invitations/check', { token: await tokenFor(platform, body.email) })).status, 200);
  await age(91);
  await runSweep();
  t.is((await as(orgAdmin.token, 'GET', `/users/${body.id}`)).status, 404);
});

async function runSweep(): Promise<void> {
  const known = platform.platform.tasks.registry.jobs.get('users/sweep-invitations');
  await onPlatform(platform, async (ctx) => known?.job.run(ctx, {}));
}

test('an invitation is sent again five times an hour', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const statuses = [];
  for (let n = 0; n < 6; n += 1) {
    statuses.push((await as(orgAdmin.token, 'POST', '/users/resend-invite', { userId: body.id })).status);
  }
  t.deepEqual(statuses, [200, 200, 200, 200, 200, 429]);
});

test('who may not give what an invitation gives does not renew it, and one with a site that is gone is not renewed', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const clerk = await orgUser(platform, { orgId, roleId: await role(platform, { orgId }, ['users:create']) });
  const limited = await orgUser(platform, { orgId, siteIds: [siteId] });
  const { body: whole } = await invite(orgAdmin.token);
  const again = (token: string, userId: string) => as(token, 'POST', '/users/resend-invite', { userId });
  t.is((await again(clerk.token, whole.id)).status, 403);
  t.is((await again(limited.token, whole.id)).body.error.code, 'TARGET_OUT_OF_SCOPE');
  const { body: sited } = await invite(orgAdmin.token, { siteIds: [siteId] });
  await platform.sql('delete from sites where id = $1', [siteId]);
  t.is((await again(orgAdmin.token, sited.id)).body.error.code, 'INVITATION_OUTDATED');
});

test('a role that an invitation promises is not removed before the invitation', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const roleId = await role(platform, { orgId }, ['devices:view']);
  const { body } = await invite(orgAdmin.token, { roleId });
  const refused = await as(orgAdmin.token, 'DELETE', `/roles/${roleId}`);
  t.is(refused.status, 400);
  t.like(refused.body.error.details[0], { invitations: 1, users: 0 });
  t.is((await as(orgAdmin.token, 'DELETE', `/users/${body.id}`)).status, 200);
  t.is((await as(orgAdmin.token, 'DELETE', `/roles/${roleId}`)).status, 200);
});

test('inviting is told to whoever listens, with the organization it is about', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { body } = await invite(orgAdmin.token);
  const events = await platform.sql<{ data: object }>(
    `select data from events where name = 'users.invited' and org_id = $1`,
    [orgId],
  );
  t.deepEqual(
    events.map(({ data }) => data),
    [{ invitationId: body.id, roleId: ROLES.viewer, partnerId: null }],
  );
});
