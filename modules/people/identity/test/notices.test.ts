/** People are told by mail when what guards their account was changed. */
import test from 'ava';
import { generateSync } from 'otplib';
import { type ErrorBody, sharedPlatform, tenant } from '#test';
import { codeSentTo, mailsTo, someNumber } from './messages.ts';
import { givePassword, PASSWORD, registration } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
platform.newcomers = true;
test.after.always(() => platform.stop());

const IP = '203.0.113.9';
interface Answer extends ErrorBody {
  secret: string;
}
const post = (path: string, body: object, token?: string, ip = IP) =>
  platform.call<Answer>('POST', path, { body, headers: { 'x-forwarded-for': ip }, ...(token ? { token } : {}) });
const subject = (mail: string) => /^Subject: Quartermaster: (.*)$/m.exec(mail)?.[1];

test('each change is told once, with its time and address, and nothing to click', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token, email } = orgAdmin;
  await givePassword(platform, orgAdmin.id);
  const number = someNumber();
  await post('/auth/phone/verify', { phoneNumber: number }, token);
  await post('/auth/phone/confirm', { code: await codeSentTo(platform, number) }, token);
  await post('/auth/mfa/sms/enable', {}, token);
  await post('/auth/mfa/recovery-codes', {}, token);
  const { secret } = (await post('/auth/mfa/setup', {}, token)).body;
  await post('/auth/mfa/enable', { code: generateSync({ secret }) }, token);
  await platform.sql('update users set mfa_last_step = null where id = $1', [orgAdmin.id]);
  await post('/auth/mfa/disable', { code: generateSync({ secret }) }, token);
  await post('/auth/change-password', { currentPassword: PASSWORD, newPassword: 'another-Tall-lamp-4' }, token);
  const mails = await mailsTo(platform, email, 6);
  t.deepEqual(mails.map(subject).sort(), [
    'two-factor authentication was set up',
    'two-factor authentication was set up',
    'two-factor authentication was switched off',
    'your password was changed',
    'your phone number was changed',
    'your recovery codes were replaced',
  ]);
  for (const mail of mails) {
    t.regex(mail, /When: \d{4}-\d\d-\d\d \d\d:\d\d UTC\nFrom: 203\.0\.113\.9\n/);
    t.notRegex(mail, /https?:/);
    t.false(mail.includes(secret) || mail.includes(number));
  }
});

test('what was refused is not told', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const { token, email } = orgAdmin;
  await post('/auth/change-password', { currentPassword: 'wrong', newPassword: 'another-Tall-lamp-4' }, token);
  await post('/auth/mfa/disable', { code: '000000' }, token);
  await post('/auth/phone/confirm', { code: '000000' }, token);
  await platform.runJobs();
  t.deepEqual(await mailsTo(platform, email, 0), []);
});

test('whoever tries to register an address that is taken makes its owner be told, at most three times a day', async (t) => {
  const { orgAdmin } = await tenant(platform);
  for (let n = 0; n < 5; n += 1) {
    const { status } = await post(
      '/auth/register-partner',
      { ...registration(), email: orgAdmin.email },
      '',
      `203.0.113.${n + 10}`,
    );
    t.is(status, 200);
  }
  const mails = await mailsTo(platform, orgAdmin.email, 3);
  await platform.runJobs();
  t.deepEqual((await mailsTo(platform, orgAdmin.email, 3)).map(subject), Array(3).fill('you already have an account'));
  t.notRegex(mails.join(), /Ada Turner/);
});
