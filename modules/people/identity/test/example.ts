/** Keys of a tenant, and what the contract tests need to know of the operations of this module. */
import type { Example, NamedTest } from '#test';
import { accountCalls } from './example-calls.ts';
import { phoneCalls } from './example-phones.ts';

const seenIn = (test: string, why: string): NamedTest => ({ test: `${test}.test.ts`, why });
const PERSON = 'sessions, second factors and passwords are those of the person who calls';

const example: Example = {
  async make(platform, { orgId, siteId, orgAdmin }) {
    const { token } = orgAdmin;
    await platform.call('POST', '/api-keys', { token, body: { orgId, name: 'Example' } });
    await platform.call('POST', '/enrollment-keys', {
      token,
      body: { orgId, siteId, name: 'Example', tags: ['branch office'] },
    });
  },
  bodies: { 'POST /auth/tickets': () => ({ purpose: 'events' }) },
  callsElsewhere: { ...accountCalls, ...phoneCalls },
  testedIn: {
    'POST /auth/change-password': seenIn('passwords', 'requires the password'),
    'POST /auth/phone/verify': seenIn('events', 'requires the password, and sends a code'),
    'POST /auth/phone/confirm': seenIn('events', 'requires the code that was sent'),
    'POST /auth/confirm-address/send': seenIn('address-proofs', 'requires an address that is not confirmed'),
    'POST /auth/mfa/setup': seenIn('second-factors', 'requires a person without a second factor'),
    'POST /auth/mfa/enable': seenIn('events', 'requires a code of the authenticator'),
    'POST /auth/mfa/disable': seenIn('events', 'requires a code of the authenticator'),
    'POST /auth/mfa/recovery-codes': seenIn('events', 'requires a second factor in use'),
    'POST /auth/mfa/sms/enable': seenIn('demands', 'requires a proven number'),
    'DELETE /auth/sessions/{id}': seenIn('logins', 'requires another session, which only a login makes'),
  },
  turns: { 'GET /auth/sessions': 4, 'POST /auth/logout': 4, 'DELETE /auth/sessions/{id}': 4 },
  withoutObject: { '/auth/sessions/{id}': PERSON },
  peopleOnly: [
    [/ \/(api|enrollment)-keys(\/|$)/, 'only people make and change keys, so that no key makes another'],
    [/ \/auth\//, PERSON],
  ],
};
export default example;
