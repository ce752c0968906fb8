/** How often a password may be tried: from one source, for one account, and from a device that is known to the account. */
import type { Limit } from '#core';
import type { Credentials } from '../../models/user.ts';
import { knownDevice } from './known-devices.ts';

const WINDOW = { windowSeconds: 900, message: 'Too many login attempts. Try again later.' };
type By = Exclude<Limit<unknown, unknown, Credentials>['by'], string>;

/**
 * Strangers can exhaust what is counted by source and by account; so a known device is counted for itself alone, and its
 * user can log in while the account, or the address it shares with others, is attacked.
 */
const unlessKnown =
  (by: (email: string, source: string) => string): By =>
  ({ payload: { email }, cookies }, source, services) =>
    knownDevice(services, cookies, email) === null ? by(email, source) : null;

export const loginLimits: Limit<unknown, unknown, Credentials>[] = [
  { ...WINDOW, name: 'login', max: 30, by: unlessKnown((email, source) => `${source}:${email}`) },
  // One password tried on many accounts; leaves room for an office behind one address.
  { ...WINDOW, name: 'login-source', max: 300, by: unlessKnown((_, source) => source) },
  // Many sources, one account.
  { ...WINDOW, name: 'login-account', max: 100, by: unlessKnown((email) => email) },
  {
    ...WINDOW,
    name: 'login-device',
    max: 30,
    by: ({ payload: { email }, cookies }, _source, services) => knownDevice(services, cookies, email),
  },
];
