/** Calls of people who prove a phone number and log in with codes sent to it. */
import { type TestPlatform, tenant } from '#test';
import { codeSentTo, someNumber } from '../../../../modules/people/identity/test/messages.ts';
import { fromSomewhere, givePassword, PASSWORD } from '../../../../modules/people/identity/test/people.ts';
import type { Stages } from './stage.ts';

export function phoneStages(platform: TestPlatform): Stages {
  const post = (path: string, body: object, token?: string) =>
    platform.call<{ tempToken: string }>('POST', path, { body, headers: fromSomewhere(), ...(token ? { token } : {}) });
  /** Somebody whom a code has been sent to. */
  async function asked() {
    const { orgAdmin } = await tenant(platform);
    const number = someNumber();
    await post('/auth/phone/verify', { phoneNumber: number }, orgAdmin.token);
    return { ...orgAdmin, code: await codeSentTo(platform, number) };
  }
  async function proven() {
    const user = await asked();
    await post('/auth/phone/confirm', { code: user.code }, user.token);
    return user;
  }
  return {
    'POST /auth/phone/verify': async () => {
      const { token } = (await tenant(platform)).orgAdmin;
      return { path: '/auth/phone/verify', token, body: { phoneNumber: someNumber() }, headers: fromSomewhere() };
    },
    'POST /auth/phone/confirm': async () => {
      const { token, code } = await asked();
      return { path: '/auth/phone/confirm', token, body: { code } };
    },
    'POST /auth/mfa/sms/enable': async () => ({
      path: '/auth/mfa/sms/enable',
      token: (await proven()).token,
      body: {},
    }),
    'POST /auth/mfa/sms/send': async () => {
      const { id, email, token } = await proven();
      await givePassword(platform, id);
      await post('/auth/mfa/sms/enable', {}, token);
      const { tempToken } = (await post('/auth/login', { email, password: PASSWORD })).body;
      return { path: '/auth/mfa/sms/send', body: { tempToken }, headers: fromSomewhere() };
    },
  };
}
