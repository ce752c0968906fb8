/** With the second factor on, giving roles wants a session that showed it. */
import test from 'ava';
import { orgUser, ROLES, startTestPlatform, tenant } from '#test';
import { caller } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { as, invite } = caller(platform);

test('a session without the second factor invites and changes people, but gives no role', async (t) => {
  const { orgId, viewer, orgAdmin } = await tenant(platform);
  const plain = await orgUser(platform, { orgId, mfa: false });
  t.is((await invite(plain.token)).status, 201);
  t.is((await as(plain.token, 'PATCH', `/users/${viewer.id}`, { name: 'Vera' })).status, 200);
  const refused = await as(plain.token, 'POST', `/users/${viewer.id}/role`, { roleId: ROLES.technician });
  t.is(refused.body.error.code, 'MFA_VERIFICATION_REQUIRED');
  t.is((await as(orgAdmin.token, 'POST', `/users/${viewer.id}/role`, { roleId: ROLES.technician })).status, 200);
  t.is((await as(plain.token, 'DELETE', `/users/${viewer.id}`)).status, 200);
});
