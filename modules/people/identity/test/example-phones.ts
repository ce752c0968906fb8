/** Example calls of people who prove a phone number and log in with codes sent to it. */
import { type Example, type TestPlatform, tenant } from '#test';
import { accounts, post } from './example-calls.ts';
import { codeSentTo, someNumber } from './messages.ts';
import { fromSomewhere, givePassword, PASSWORD } from './people.ts';

/** A person to whom a code was sent. */
async function asked(platform: TestPlatform) {
  const { orgAdmin } = await tenant(platform);
  const number = someNumber();
  await post(platform, '/auth/phone/verify', { phoneNumber: number }, orgAdmin.token);
  return { ...orgAdmin, code: await codeSentTo(platform, number) };
}

async function proven(platform: TestPlatform) {
  const user = await asked(platform);
  await post(platform, '/auth/phone/confirm', { code: user.code }, user.token);
  return user;
}

export const phoneCalls: Example['callsElsewhere'] = {
  async 'POST /auth/phone/verify'(context) {
    const platform = await accounts(context);
    const { token } = (await tenant(platform)).orgAdmin;
    const body = { phoneNumber: someNumber() };
    return { platform, path: '/auth/phone/verify', token, body, headers: fromSomewhere() };
  },
  async 'POST /auth/phone/confirm'(context) {
    const platform = await accounts(context);
    const { token, code } = await asked(platform);
    return { platform, path: '/auth/phone/confirm', token, body: { code } };
  },
  async 'POST /auth/mfa/sms/enable'(context) {
    const platform = await accounts(context);
    return { platform, path: '/auth/mfa/sms/enable', token: (await proven(platform)).token, body: {} };
  },
  async 'POST /auth/mfa/sms/send'(context) {
    const platform = await accounts(context);
    const { id, email, token } = await proven(platform);
    await givePassword(platform, id);
    await post(platform, '/auth/mfa/sms/enable', {}, token);
    const body = { email, password: PASSWORD };
    const { tempToken } = (await post<{ tempToken: string }>(platform, '/auth/login', body)).body;
    return { platform, path: '/auth/mfa/sms/send', body: { tempToken }, headers: fromSomewhere() };
  },
};
