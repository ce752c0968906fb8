/** Recovery codes: how they are kept, and that each works once. */
import test from 'ava';
import { hashRecoveryCode, newRecoveryCodes } from '#core/auth';
import { type ErrorBody, sharedPlatform, tenant } from '#test';
import { mailsTo } from './messages.ts';
import { fromSomewhere, givePassword, PASSWORD } from './people.ts';

const platform = await sharedPlatform({ TRUST_PROXY_HEADERS: 'true' });
test.after.always(() => platform.stop());

interface Answer extends ErrorBody {
  tempToken: string;
  recoveryCodes: string[];
}
const post = (path: string, body: object, token?: string) =>
  platform.call<Answer>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });

/** A user with MFA on and codes renewed just now. */
async function user() {
  const { orgAdmin } = await tenant(platform);
  await givePassword(platform, orgAdmin.id);
  await platform.sql(
    `update users set mfa_enabled = true, mfa_method = 'sms', phone_number = '+491701234567', phone_verified = true
     where id = $1`,
    [orgAdmin.id],
  );
  const { body } = await post('/auth/mfa/recovery-codes', {}, orgAdmin.token);
  return { ...orgAdmin, codes: body.recoveryCodes };
}
const logIn = async (email: string, code: string) => {
  const { tempToken } = (await post('/auth/login', { email, password: PASSWORD })).body;
  return (await post('/auth/mfa/verify', { tempToken, code })).status;
};
const stored = async (id: string) =>
  (await platform.sql<{ codes: string[] }>('select mfa_recovery_codes as codes from users where id = $1', [id]))[0]
    ?.codes ?? [];

test('what is kept of a code is worthless without this installation and to any other user', async (t) => {
  const [ada, ben] = [await user(), await user()];
  const kept = await stored(ada.id);
  t.is(kept.length, 10);
  t.is(kept.filter((one) => ada.codes.some((code) => hashRecoveryCode(code) === one)).length, 0);
  await platform.sql('update users set mfa_recovery_codes = $2 where id = $1', [ben.id, JSON.stringify(kept)]);
  t.is(await logIn(ben.email, ada.codes[0] ?? ''), 401);
  t.is(await logIn(ada.email, ada.codes[0] ?? ''), 200);
  t.is((await stored(ada.id)).length, 9);
  const mails = await mailsTo(platform, ada.email, 2);
  t.true(mails.some((mail) => mail.includes('A recovery code was used') || mail.includes('a recovery code was used')));
});

test('codes from before they were bound to their user still work, once each', async (t) => {
  const { id, email } = await user();
  const codes = newRecoveryCodes();
  await platform.sql('update users set mfa_recovery_codes = $2 where id = $1', [
    id,
    JSON.stringify(codes.map(hashRecoveryCode)),
  ]);
  const [first = '', second = ''] = codes;
  t.is(await logIn(email, first.toUpperCase().replace('-', ' ')), 200);
  t.is(await logIn(email, first), 401);
  t.is(await logIn(email, second), 200);
  t.is((await stored(id)).length, 8);
});
