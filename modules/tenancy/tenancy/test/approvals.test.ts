/** Where approval is required, a registered partner waits for a system administrator. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type ErrorBody, type PlatformClient, sharedPlatform, systemUser, until } from '#test';

const VARIABLES = { PARTNER_APPROVAL: 'required', TRUST_PROXY_HEADERS: 'true' };
const platform: PlatformClient = await sharedPlatform(VARIABLES);
test.after.always(() => platform.stop());

const PASSWORD = 'quite-a-Long-horse-9';
const somewhere = () => ({ 'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1` });
interface Registered extends ErrorBody {
  user: { id: string };
  partner: { id: string; name: string };
  tokens: { accessToken: string };
}

async function register() {
  const email = `${randomUUID().slice(0, 8)}@example.com`;
  const companyName = `Waiting ${randomUUID().slice(0, 8)}`;
  const body = { companyName, name: 'Ada Turner', email, password: PASSWORD, acceptTerms: true };
  const made = await platform.call<Registered>('POST', '/auth/register-partner', { body, headers: somewhere() });
  return { email, companyName, status: made.status, id: made.body.partner.id, token: made.body.tokens.accessToken };
}
const decide = (token: string, id: string, status: string) =>
  platform.call<ErrorBody>('PATCH', `/orgs/partners/${id}`, { token, body: { status } });

/** Waits until a mail with this text has gone to the address. */
async function mailed(email: string, text: string): Promise<string> {
  const folder = join(platform.dataDir, 'mail');
  let found = '';
  await until(async () => {
    await platform.runJobs();
    const names = await readdir(folder).catch(() => []);
    const mails = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
    const plain = mails.map((mail) => mail.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '='));
    found = plain.find((mail) => mail.includes(`To: ${email}`) && mail.includes(text)) ?? '';
    return found !== '';
  });
  return found;
}

test('a registration is pending: its own state and its sessions are open, and nothing else', async (t) => {
  const admin = await systemUser(platform);
  const { status, id, token, email, companyName } = await register();
  t.is(status, 201);
  const me = await platform.call('GET', '/auth/me', { token });
  t.like(me.body, { partnerId: id, partnerStatus: 'pending' });
  t.is((await platform.call('GET', '/auth/sessions', { token })).status, 200);
  for (const [method, path] of [
    ...[['GET', '/orgs/organizations'] as const, ['GET', '/orgs/partners/me'] as const],
    ...[['POST', '/auth/mfa/setup'] as const, ['PATCH', '/users/me'] as const],
  ]) {
    const refused = await platform.call<ErrorBody>(method, path, { token, ...(method === 'GET' ? {} : { body: {} }) });
    t.deepEqual([refused.status, refused.body.error.code], [403, 'PARTNER_INACTIVE'], path);
  }
  const waiting = await mailed(admin.email, companyName);
  t.regex(waiting, new RegExp(`/orgs/partners/${id}`));
  t.notRegex(await mailed(email, 'waits for approval'), /Ada Turner|Waiting [0-9a-f]{8}/);
  const list = await platform.call<{ data: { id: string; status: string }[] }>(
    'GET',
    '/orgs/partners?status=pending&limit=100&cursor=',
    { token: admin.token },
  );
  t.true(list.body.data.some((partner) => partner.id === id));
  t.true(list.body.data.every((partner) => partner.status === 'pending'));
  t.is((await platform.call('POST', '/auth/logout', { token, body: {} })).status, 200);
});

test('an administrator of the system approves, which opens the API, is recorded and told', async (t) => {
  const admin = await systemUser(platform);
  const { id, token, email } = await register();
  t.is((await decide(token, id, 'active')).status, 403, 'nobody approves their own');
  t.is((await decide(admin.token, id, 'active')).status, 200);
  await until(async () => (await platform.call('GET', '/orgs/organizations', { token })).status !== 403);
  const next = await platform.call<ErrorBody>('GET', '/orgs/organizations', { token });
  t.is(next.body.error.code, 'MFA_REQUIRED', 'as for every new partner');
  await mailed(email, 'your registration was approved');
  const [entry] = (await platform.audits({ action: 'partner.update' })).filter((row) => row.resource_id === id);
  t.like(entry, { actor_id: admin.id, details: { before: { status: 'pending' }, after: { status: 'active' } } });
});

test('a refused partner stays closed and is told', async (t) => {
  const admin = await systemUser(platform);
  const { id, token, email } = await register();
  t.is((await decide(admin.token, id, 'churned')).status, 200);
  await mailed(email, 'your registration was refused');
  await until(async () => {
    const { body } = await platform.call<{ partnerStatus: string }>('GET', '/auth/me', { token });
    return body.partnerStatus === 'churned';
  });
  t.is((await platform.call('GET', '/orgs/organizations', { token })).status, 403);
});
