/** What other modules ask: which roles can be given in a tenant, and what they grant. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { type Context, EVERYWHERE, NOBODY, NOWHERE } from '#core';
import { runUnitOfWork } from '#core/work';
import { ROLES, type Tenant } from '#test';
import { createLog } from '../../../../core/log.ts';
import { call, make, pairs, place, platform, type RoleBody, somebodyWaits } from './arrange.ts';

const log = createLog('silent');
/** Work of the platform's role, as logins and acceptances do it, for somebody with these permissions. */
const asked = <T>(held: string[], run: (ctx: Context) => Promise<T>, scope = NOWHERE) =>
  runUnitOfWork(
    platform.platform.tasks.work,
    { actor: { ...NOBODY, kind: 'user', permissions: new Set(held) }, scope, requestId: 'test', log, role: 'platform' },
    run,
  );
/** The same within an organization, where row-level security holds. */
const within = <T>({ orgId, partnerId }: Tenant, held: string[], run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(
    platform.platform.tasks.work,
    {
      actor: { ...NOBODY, kind: 'user', permissions: new Set(held) },
      scope: { ...NOWHERE, kind: 'organization', orgId, orgIds: [orgId], ownerPartnerId: partnerId },
      requestId: 'test',
      log,
      role: 'app',
    },
    run,
  );
const ofOrg = ({ orgId }: { orgId: string }) => ({ orgId, partnerId: null });
const ofPartner = ({ partnerId }: { partnerId: string }) => ({ orgId: null, partnerId });

test('in a tenant can be given what is built in for its scope and what is its own, by name', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const role = await make(mine.orgAdmin, 'night shift', { description: 'After six', forceMfa: true });
  await make(mine.partner, 'Of the partner');
  await make(theirs.orgAdmin, 'Of another');
  const names = async (run: (ctx: Context) => Promise<{ name: string }[]>) =>
    (await asked([], run)).map(({ name }) => name);
  const built = ['Organization Admin', 'Technician', 'Viewer'];
  t.deepEqual(await names((ctx) => ctx.use('roles').assignable(ofOrg(mine))), ['night shift', ...built]);
  t.deepEqual(await names((ctx) => ctx.use('roles').assignable(ofOrg({ orgId: randomUUID() }))), built);
  t.deepEqual(await names((ctx) => ctx.use('roles').assignable(ofPartner(mine))), ['Of the partner', 'Partner Admin']);
  const [first] = await within(mine, [], (ctx) => ctx.use('roles').assignable(ofOrg(mine)));
  t.deepEqual(
    { ...first },
    {
      id: role.id,
      name: 'night shift',
      description: 'After six',
      scope: 'organization',
      isSystem: false,
      forceMfa: true,
      parentRoleId: null,
    },
  );
});

test('what a role grants includes what it inherits, sorted', async (t) => {
  const { orgAdmin } = await place();
  const parent = await make(orgAdmin, 'Parent', { permissions: pairs('sites:view', 'users:view') });
  const { id } = await make(orgAdmin, 'Child', {
    parentRoleId: parent.id,
    permissions: pairs('users:view', 'alerts:update'),
  });
  t.deepEqual(await asked([], (ctx) => ctx.use('roles').permissionsOf(id)), [
    'alerts:update',
    'sites:view',
    'users:view',
  ]);
  t.deepEqual(await asked([], (ctx) => ctx.use('roles').permissionsOf(ROLES.orgAdmin)), ['*:*']);
  t.deepEqual(await asked([], (ctx) => ctx.use('roles').permissionsOf(randomUUID())), []);
});

test('a role is given only in its tenant, also by work that reaches all of them', async (t) => {
  const [mine, theirs] = await Promise.all([place(), place()]);
  const own = await make(mine.orgAdmin, 'Own', { forceMfa: true });
  const partners = await make(mine.partner, "Partner's");
  const give = (id: string, tenant: { orgId: string | null; partnerId: string | null }) =>
    asked(['*:*'], (ctx) => ctx.use('roles').mustAssign(id, tenant, 'role'), EVERYWHERE);
  t.deepEqual(await give(own.id, ofOrg(mine)), { id: own.id, name: 'Own', scope: 'organization', forceMfa: true });
  t.is((await give(ROLES.viewer, ofOrg(mine))).name, 'Viewer');
  t.is((await give(partners.id, ofPartner(mine))).name, "Partner's");
  t.is((await give(mine.partnerRoleId, ofPartner(mine))).name, 'Partner Admin');
  for (const [id, tenant] of [
    [own.id, ofOrg(theirs)],
    [own.id, ofPartner(mine)],
    [partners.id, ofOrg(mine)],
    [partners.id, ofPartner(theirs)],
    [mine.partnerRoleId, ofOrg(mine)],
    [ROLES.viewer, ofPartner(mine)],
    [ROLES.systemAdmin, ofOrg(mine)],
    [ROLES.systemAdmin, ofPartner(mine)],
    [randomUUID(), ofOrg(mine)],
    [partners.id, { orgId: null, partnerId: null }],
  ] as const) {
    await t.throwsAsync(give(id, tenant), { message: 'Role not found' });
  }
  const error = await t.throwsAsync<Error & { details?: unknown }>(give(own.id, ofOrg(theirs)));
  t.deepEqual(error?.details, [{ path: 'role' }]);
});

test('nobody gives a role that grants more than they hold, inherited permissions included', async (t) => {
  const mine = await place();
  const parent = await make(mine.orgAdmin, 'Parent', { permissions: pairs('sites:view') });
  const { id } = await make(mine.orgAdmin, 'Child', { parentRoleId: parent.id, permissions: pairs('users:view') });
  const give = (held: string[]) => within(mine, held, (ctx) => ctx.use('roles').mustAssign(id, ofOrg(mine)));
  t.is((await give(['users:view', 'sites:view'])).id, id);
  t.is((await give(['*:*'])).id, id);
  const error = await t.throwsAsync<Error & { status?: number; details?: unknown }>(give(['users:view']));
  t.is(error?.status, 403);
  t.deepEqual(error?.details, [{ path: 'roleId', message: 'sites:view' }]);
  await t.throwsAsync(
    within(mine, ['users:view'], (ctx) => ctx.use('roles').mustAssign(ROLES.orgAdmin, ofOrg(mine))),
    {
      message: /permissions that you do not hold/,
    },
  );
});

test('a role that is being given is not removed: the removal waits, and then counts', async (t) => {
  const mine = await place();
  for (const work of [asked, (held: string[], run: (ctx: Context) => Promise<void>) => within(mine, held, run)]) {
    const { id } = await make(mine.orgAdmin, 'Being given');
    let removal: ReturnType<typeof call<RoleBody>> | undefined;
    await work(['*:*'], async (ctx) => {
      await ctx.use('roles').mustAssign(id, ofOrg(mine));
      const { rows } = await ctx.sql<{ pid: number }>('select pg_backend_pid() as pid');
      removal = call('DELETE', `/${id}`, mine.orgAdmin);
      await somebodyWaits(rows[0]?.pid ?? 0);
      await ctx.sql('update organization_users set role_id = $1 where user_id = $2', [id, mine.viewer.id]);
    });
    const answer = await removal;
    t.is(answer?.body.error.code, 'ROLE_IN_USE');
    t.like(answer?.body.error.details, [{ users: 1 }]);
    await platform.sql('update organization_users set role_id = $1 where user_id = $2', [ROLES.viewer, mine.viewer.id]);
    t.is((await call('DELETE', `/${id}`, mine.orgAdmin)).status, 200);
  }
});
