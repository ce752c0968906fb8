/** Members whom an identity provider brings, with or without an invitation. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { ROLES, startTestPlatform, tenant } from '#test';
import { caller, onPlatform, tokenFor } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { as, invite, list } = caller(platform);

/** Mails run one after another, so that the tests that wait for them do too. */
async function invited(token: string, body: object) {
  const { body: item } = await invite(token, body);
  await tokenFor(platform, item.email);
  return item;
}

test.serial('a place taken by an identity provider comes from a pending invitation, once', async (t) => {
  const { orgAdmin, orgId, siteId } = await tenant(platform);
  const elsewhere = await tenant(platform);
  const { id: userId, email } = elsewhere.viewer;
  const take = () =>
    onPlatform(platform, (ctx) => ctx.use('users').takeInvitation({ orgId, email: email.toUpperCase(), userId }));
  t.is(await take(), null);
  const { id } = await invited(orgAdmin.token, { email, roleId: ROLES.technician, siteIds: [siteId] });
  await platform.sql(`update invitations set expires_at = now() where id = $1`, [id]);
  t.is(await take(), null, 'expired');
  await platform.sql(`update invitations set expires_at = now() + interval '1 day' where id = $1`, [id]);
  const both = await Promise.all([take(), take()]);
  t.deepEqual(both.filter(Boolean), [{ scope: 'organization', orgId, partnerId: null, roleId: ROLES.technician }]);
  t.like((await as(orgAdmin.token, 'GET', `/users/${userId}`)).body, { siteIds: [siteId], status: 'active' });
  t.is((await list(orgAdmin.token, 'status=invited')).data.length, 0);
  t.is((await platform.audits({ orgId, action: 'user.invite.accept' })).length, 1);
});

test.serial(
  'who is provisioned without an invitation gets the role given, a pending invitation goes, a member stays',
  async (t) => {
    const { orgAdmin, viewer, orgId, partnerRoleId } = await tenant(platform);
    const elsewhere = await tenant(platform);
    const { id: userId, email } = elsewhere.viewer;
    const add = (who: { userId: string; roleId: string }) =>
      onPlatform(platform, (ctx) => ctx.use('users').addMember({ orgId, ...who }));
    await invite(orgAdmin.token, { email });
    t.is(await add({ userId, roleId: partnerRoleId }), null, 'a role of elsewhere');
    t.is(await add({ userId: randomUUID(), roleId: ROLES.viewer }), null);
    t.is((await add({ userId, roleId: ROLES.technician }))?.roleId, ROLES.technician);
    t.is((await add({ userId: viewer.id, roleId: ROLES.orgAdmin }))?.roleId, ROLES.viewer);
    t.deepEqual((await list(orgAdmin.token)).data.map(({ id }) => id).sort(), [orgAdmin.id, viewer.id, userId].sort());
    const audits = await platform.audits({ orgId, action: 'user.provision' });
    t.deepEqual(
      audits.map((row) => row.resource_id),
      [userId],
    );
  },
);
