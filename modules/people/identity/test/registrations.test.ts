/** Registering a partner or an account. */
import test from 'ava';
import { type ErrorBody, sharedPlatform, startTestPlatform } from '#test';
import { fromSomewhere, PASSWORD, type Registered, refreshCookie, registration } from './people.ts';

// A login is by password alone here; the second factor has tests of its own.
const platform = await sharedPlatform({ ENABLE_2FA: 'false', TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

const register = (body: object, headers = fromSomewhere()) =>
  platform.call<Registered & ErrorBody>('POST', '/auth/register-partner', { body, headers });

test('a partner registers, is logged in at once and may work', async (t) => {
  const { status, body, headers } = await register(registration('Café & Söhne  GmbH!'));
  t.is(status, 201);
  t.like(body, { partner: { slug: 'cafe-sohne-gmbh' }, tokens: { expiresInSeconds: 900 }, mfaRequired: false });
  t.regex(refreshCookie(headers).raw, /HttpOnly/);
  const me = await platform.call('GET', '/auth/me', { token: body.tokens.accessToken });
  t.like(me.body, { scope: 'partner', partnerId: body.partner.id, roleName: 'Partner Admin', permissions: ['*:*'] });
  t.is((await platform.call('GET', '/orgs/sites', { token: body.tokens.accessToken })).status, 200);
  const [partner] = await platform.sql('select type, plan, status from partners where id = $1', [body.partner.id]);
  t.deepEqual(partner, { type: 'msp', plan: 'free', status: 'active' });
  const [row] = await platform.sql(
    `select pu.org_access, r.is_system, r.force_mfa from partner_users pu join roles r on r.id = pu.role_id
     where pu.user_id = $1`,
    [body.user.id],
  );
  t.deepEqual(row, { org_access: 'all', is_system: true, force_mfa: true });
  const audits = (await platform.audits()).filter((entry) => entry.actor_id === body.user.id);
  t.deepEqual(
    audits.map((entry) => entry.action),
    ['partner.create', 'user.create'],
  );
});

test('an address that is taken gets a success-like answer and changes nothing', async (t) => {
  const first = registration();
  t.is((await register(first)).status, 201);
  const again = await register({ ...first, email: first.email.toUpperCase(), companyName: 'Never Made' });
  t.is(again.status, 200);
  t.like(again.body, { success: true });
  t.deepEqual(Object.keys(again.body).sort(), ['message', 'success']);
  t.is((await platform.sql(`select 1 from partners where name = 'Never Made'`)).length, 0);
});

test('companies of one name that register at once all get slugs of their own', async (t) => {
  const made = await Promise.all(Array.from({ length: 5 }, () => register(registration('Same Name'))));
  t.deepEqual(made.map(({ body }) => body.partner.slug).sort(), [
    'same-name',
    'same-name-1',
    'same-name-2',
    'same-name-3',
    'same-name-4',
  ]);
});

test('one address registered twice at once makes one partner', async (t) => {
  const body = registration('Twice Ltd');
  const answers = await Promise.all([register(body), register(body), register(body)]);
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 201]);
  t.is((await platform.sql(`select 1 from partners where name = 'Twice Ltd'`)).length, 1);
});

test('after a hundred partners of one name the suffix is random', async (t) => {
  await platform.sql(
    `insert into partners (name, slug) select 'Full', 'full' || case when n = 0 then '' else '-' || n end
     from generate_series(0, 100) n`,
  );
  const made = await Promise.all([1, 2, 3].map(() => register(registration('Full'))));
  for (const { status, body } of made) {
    t.is(status, 201);
    t.regex(body.partner.slug, /^full-[0-9a-f]{10}$/);
  }
  t.is(new Set(made.map(({ body }) => body.partner.slug)).size, 3);
});

test('weak and bad input is refused with the first message and the paths', async (t) => {
  const short = await register({ ...registration(), password: 'short' });
  t.is(short.status, 400);
  t.is(short.body.error.message, 'Password must be at least 8 characters');
  const easy = await register({ ...registration(), password: 'password123' });
  t.like(easy.body.error, { code: 'WEAK_PASSWORD' });
  const bad = await register({ companyName: 'x', name: '', email: 'no', password: PASSWORD, acceptTerms: false });
  t.deepEqual(bad.body.error.details.map((detail) => detail.path).sort(), [
    'acceptTerms',
    'companyName',
    'email',
    'name',
  ]);
});

test('attempts with an invalid or unreadable body count, and a body is not read once there are too many', async (t) => {
  const headers = fromSomewhere();
  t.is((await register({ ...registration(), acceptTerms: false }, headers)).status, 400);
  t.is((await register({}, headers)).status, 400);
  const unreadable = await fetch(`${platform.url}/api/v1/auth/register-partner`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{',
  });
  t.is(unreadable.status, 400);
  for (const body of [registration(), {}]) t.is((await register(body, headers)).status, 429);
});

test('which terms were accepted is recorded, with time and address', async (t) => {
  const headers = fromSomewhere();
  const { body } = await register(registration(), headers);
  const accepted = (id: string) =>
    platform.sql(
      `select version, ip_address, accepted_at > now() - interval '1 minute' as now from terms_acceptances where user_id = $1`,
      [id],
    );
  t.deepEqual(await accepted(body.user.id), [{ version: '1', ip_address: headers['x-forwarded-for'], now: true }]);
  const [entry] = (await platform.audits({ action: 'user.create' })).filter((row) => row.resource_id === body.user.id);
  t.is(entry?.details.termsVersion, '1');
  for (const acceptTerms of [true, undefined]) {
    const { companyName: _, ...account } = { ...registration(), acceptTerms };
    await platform.call('POST', '/auth/register', { body: account, headers: fromSomewhere() });
    const [user] = await platform.sql<{ id: string }>('select id from users where email = $1', [account.email]);
    t.is((await accepted(user?.id ?? '')).length, acceptTerms ? 1 : 0);
  }
});

test('the fourth attempt from one address within the hour is refused', async (t) => {
  const headers = fromSomewhere();
  for (let n = 0; n < 3; n += 1) t.is((await register(registration(), headers)).status, 201);
  const refused = await register(registration(), headers);
  t.is(refused.status, 429);
  t.is(refused.body.error.message, 'Too many registration attempts. Try again later.');
});

test('a standalone account answers alike for a new and a taken address, and cannot log in without a place', async (t) => {
  const { companyName: _, ...body } = registration();
  const call = () => platform.call('POST', '/auth/register', { body, headers: fromSomewhere() });
  const [first, second] = [await call(), await call()];
  t.is(first.status, 201);
  t.deepEqual([second.status, second.body], [first.status, first.body]);
  const login = await platform.call<ErrorBody>('POST', '/auth/login', {
    body: { email: body.email, password: PASSWORD },
  });
  t.is(login.status, 403);
  t.is(login.body.error.message, 'Partner or organization context required');
});

test('where registration is off both endpoints say so in its documented words', async (t) => {
  const closed = await startTestPlatform({ ENABLE_REGISTRATION: 'off' });
  try {
    const { companyName: _, ...account } = registration();
    const answers = await Promise.all([
      closed.call('POST', '/auth/register-partner', { body: registration() }),
      closed.call('POST', '/auth/register', { body: account }),
      ...[1, 2, 3, 4, 5].map(() => closed.call('POST', '/auth/register-partner', { body: {} })),
    ]);
    for (const { status, body } of answers) {
      t.is(status, 403);
      t.deepEqual(body, { error: 'Registration is currently disabled', code: 'REGISTRATION_DISABLED' });
    }
  } finally {
    await closed.stop();
  }
});

test('without the counter store nobody registers, and login goes on', async (t) => {
  const lone = await startTestPlatform({ REDIS_URL: 'redis://127.0.0.1:1' });
  try {
    t.is((await lone.call('POST', '/auth/register-partner', { body: registration() })).status, 503);
    const login = await lone.call('POST', '/auth/login', { body: { email: 'a@example.com', password: PASSWORD } });
    t.is(login.status, 401);
  } finally {
    await lone.stop();
  }
});
