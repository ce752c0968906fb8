/** The code of the fragment: good once, for a minute, in one browser. */
import test from 'ava';
import { Browser } from './browser.ts';
import { person, place, startPlatform, startProvider } from './ground.ts';

const [platform, provider] = await Promise.all([startPlatform(), startProvider()]);
platform.newcomers = true;
test.after.always(async () => {
  await platform.stop();
  await provider.stop();
});

/** A member who came back and holds a code. */
async function back() {
  const made = await place(platform, provider.issuer);
  const browser = new Browser(platform);
  const { code } = await browser.logIn(made.orgId, provider, person(made.viewer.email));
  return { ...made, browser, code };
}
const refused = async (browser: Browser, code: string | null) => {
  const { status, body, headers } = await browser.exchange(code);
  return status === 401 && body.error.code === 'SSO_CODE_INVALID' && headers.getSetCookie().length === 0;
};
const failures = (orgId: string) => platform.audits({ action: 'user.login.failed', orgId });
const sessions = (userId: string) =>
  platform.sql('select id from sessions where user_id = $1 and ip_address is not null', [userId]);

test('a code is good once; a second attempt is refused and recorded', async (t) => {
  const { browser, code, orgId, viewer } = await back();
  const { status, headers } = await browser.exchange(code);
  t.is(status, 200);
  t.is(headers.get('cache-control'), 'no-store');
  t.true(await refused(browser, code));
  t.is((await sessions(viewer.id)).length, 1);
  const [failed, ...more] = await failures(orgId);
  t.like(failed, { actor_id: viewer.id, result: 'failure' });
  t.is(more.length, 0);
});

test('of exchanges at once one gets the session', async (t) => {
  const { browser, code, viewer } = await back();
  const answers = await Promise.all([1, 2, 3, 4].map(() => browser.exchange(code)));
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 401, 401, 401]);
  t.is((await sessions(viewer.id)).length, 1);
});

test('a code is no good after a minute, in another browser, or made up', async (t) => {
  const { browser, code, orgId, viewer } = await back();
  t.true(await refused(new Browser(platform), code), 'a link with somebody else’s code logs nobody in');
  t.true(await refused(browser, 'made-up'));
  const [row] = await platform.sql<{ seconds: number }>(
    'select extract(epoch from expires_at - now())::int as seconds from sso_codes where user_id = $1',
    [viewer.id],
  );
  t.true((row?.seconds ?? 99) <= 60);
  await platform.sql('update sso_codes set expires_at = now() where user_id = $1', [viewer.id]);
  t.true(await refused(browser, code));
  t.is((await sessions(viewer.id)).length, 0);
  t.is((await failures(orgId)).length, 2, 'what was made up belongs to nobody');
});

test('a code is worth nothing once the provider, the membership or the user is gone', async (t) => {
  const status = await back();
  const { token } = status.orgAdmin;
  await platform.call('POST', `/sso/providers/${status.provider.id}/status`, { token, body: { status: 'inactive' } });
  t.true(await refused(status.browser, status.code));

  const member = await back();
  await platform.sql('delete from organization_users where user_id = $1', [member.viewer.id]);
  t.true(await refused(member.browser, member.code));

  const disabled = await back();
  await platform.sql(`update users set status = 'disabled' where id = $1`, [disabled.viewer.id]);
  t.is((await disabled.browser.exchange(disabled.code)).status, 401);

  const suspended = await back();
  await platform.sql(`update organizations set status = 'suspended' where id = $1`, [suspended.orgId]);
  t.true(await refused(suspended.browser, suspended.code));
});

test('codes are not readable in the database, and old ones are swept away', async (t) => {
  const { code, viewer } = await back();
  const rows = () =>
    platform.sql<{ all: string }>('select c::text as all from sso_codes c where user_id = $1', [viewer.id]);
  const [row] = await rows();
  t.false(row?.all.includes(code ?? ''));
  await platform.sql(`update sso_codes set expires_at = now() - interval '2 days' where user_id = $1`, [viewer.id]);
  await platform.sql(
    `select graphile_worker.add_job('sso/sweep-expired', json_build_object('orgId', null, 'requestId', 'test', 'data', '{}'::json))`,
  );
  await platform.runJobs();
  t.deepEqual(await rows(), []);
});
