/** Reading roles and the catalog. */
import test from 'ava';
import { apiKey, orgUser, startTestPlatform, systemUser, tenant } from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

interface Roles {
  data: { id: string; name: string; userCount: number }[];
}

test('each scope sees its own roles and those below, with the users it reaches', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const names = async (token: string) =>
    (await platform.call<Roles>('GET', '/roles', { token })).body.data.map((role) => `${role.name} ${role.userCount}`);
  t.deepEqual(await names(mine.orgAdmin.token), ['Organization Admin 1', 'Technician 0', 'Viewer 1']);
  t.deepEqual(await names(mine.partner.token), ['Organization Admin 1', 'Partner Admin 1', 'Technician 0', 'Viewer 1']);
  const system = await systemUser(platform);
  t.true((await names(system.token)).includes('System Administrator 1'));
  const path = `/roles/${mine.partnerRoleId}`;
  t.like((await platform.call('GET', path, { token: mine.partner.token })).body, {
    forceMfa: true,
    isSystem: true,
    permissions: [{ resource: '*', action: '*' }],
  });
  t.is((await platform.call('GET', path, { token: theirs.partner.token })).status, 404);
  t.is((await platform.call('GET', path, { token: mine.orgAdmin.token })).status, 404);
});

test('the catalog lists what a role can be given, to those who may read users', async (t) => {
  const { orgAdmin, orgId } = await tenant(platform);
  const { token } = orgAdmin;
  const { body } = await platform.call<{ data: { resource: string }[] }>('GET', '/permissions/catalog', { token });
  t.is(body.data.length, 60);
  const available = await platform.call('GET', '/roles/permissions/available', { token });
  t.like(available.body, { actions: ['create', 'delete', 'execute', 'update', 'view'] });
  const key = await apiKey(platform, { orgId, scopes: ['devices:read'], createdBy: orgAdmin.id });
  t.is((await platform.call('GET', '/permissions/catalog', { apiKey: key })).status, 403);
  const [role] = await platform.sql<{ id: string }>(
    `insert into roles (org_id, scope, name) values ($1, 'organization', 'Nothing') returning id`,
    [orgId],
  );
  const nobody = await orgUser(platform, { orgId, roleId: role?.id ?? '' });
  t.is((await platform.call('GET', '/roles', { token: nobody.token })).status, 403);
});
