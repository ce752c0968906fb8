/** Tokens that open no invitation, and whoever guesses them. */
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { caller, fromSomewhere, PASSWORD, tokenFor } from './arrange.ts';

const platform = await startTestPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());
const { as, invite, open } = caller(platform);

const check = (token: string) => open('invitations/check', { token });
const accept = (token: string, more: object = {}) => open('accept-invite', { token, ...more });
/** Mails run one after another, so that the tests that read them do too. */
async function invited(token: string, body: object = {}) {
  const { body: item } = await invite(token, body);
  return { ...item, link: await tokenFor(platform, item.email) };
}

test.serial('every worthless token is refused with one code', async (t) => {
  const refusedOf = async (spoil: (at: { id: string; email: string; token: string }) => Promise<unknown>) => {
    const at = await tenant(platform);
    const { id, email, link } = await invited(at.orgAdmin.token);
    await spoil({ id, email, token: at.orgAdmin.token, ...at });
    const answers = [await check(link), await accept(link, { password: PASSWORD })];
    t.deepEqual(
      answers.map(({ status, body }) => [status, body.error?.code]),
      [
        [400, 'INVITATION_INVALID'],
        [400, 'INVITATION_INVALID'],
      ],
    );
    t.is((await platform.sql('select from users where email = $1', [email])).length <= 1, true);
  };
  await refusedOf(({ id }) => platform.sql('update invitations set expires_at = now() where id = $1', [id]));
  await refusedOf(({ id, token }) => as(token, 'DELETE', `/users/${id}`));
  await refusedOf(({ id, token }) => as(token, 'POST', '/users/resend-invite', { userId: id }));
  for (const change of ["status = 'suspended'", "status = 'churned'", 'deleted_at = now()']) {
    await refusedOf(({ id }) =>
      platform.sql(`update organizations set ${change} where id = (select org_id from invitations where id = $1)`, [
        id,
      ]),
    );
    await refusedOf(({ id }) =>
      platform.sql(
        `update partners set ${change} where id = (select o.partner_id from invitations i
           join organizations o on o.id = i.org_id where i.id = $1)`,
        [id],
      ),
    );
  }
  await refusedOf(({ email }) =>
    platform.sql(`insert into users (email, name, status) values (upper($1), 'Off', 'disabled')`, [email]),
  );
  for (const token of ['inv_nothing', '', 'x'.repeat(201)]) t.is((await check(token)).status, 400);
  t.is((await check(`inv_${'a'.repeat(43)}`)).body.error.code, 'INVITATION_INVALID');
});

test.serial('addresses that try tokens are slowed down', async (t) => {
  const headers = fromSomewhere();
  const tries = async (path: string, times: number) => {
    let status = 0;
    for (let n = 0; n < times; n += 1) {
      ({ status } = await platform.call('POST', `/auth/${path}`, { body: { token: 'inv_guess' }, headers }));
    }
    return status;
  };
  t.is(await tries('invitations/check', 60), 400);
  t.is(await tries('invitations/check', 1), 429);
  t.is(await tries('accept-invite', 20), 400);
  t.is(await tries('accept-invite', 1), 429);
});
