/** A cookie tells a browser in which the account was opened before from a stranger who guesses its password. */
import type { Context, ReplyOptions, Services } from '#core';
import { equalHash, newOpaqueToken } from '#core/auth';

const COOKIE = 'svc_known_device';
const COOKIE_PATH = '/api/v1/auth';
const LASTS_SECONDS = 180 * 86_400;

const macOf = ({ mac }: Pick<Services, 'mac'>, plain: string, email: string): string =>
  mac('known-device', `${plain} ${email.toLowerCase()}`);

/** For the answer to a login: opens nothing, and lasts longer than the session. Bound to the address of the account. */
export function deviceCookie(ctx: Context, email: string): NonNullable<ReplyOptions['cookies']> {
  const expires = Math.floor(Date.now() / 1000) + LASTS_SECONDS;
  const plain = newOpaqueToken(`${expires}.`, 16);
  const value = `${plain}.${macOf(ctx.services, plain, email)}`;
  return { [COOKIE]: { value, maxAgeSeconds: LASTS_SECONDS, path: COOKIE_PATH } };
}

/** What stands for the device in counters; null for a device in which the account of this address was never opened. */
export function knownDevice(
  services: Pick<Services, 'mac'>,
  cookies: Record<string, string | undefined>,
  email: string,
): string | null {
  const [, plain, expires, mac] = /^((\d{1,12})\.[\w-]{22})\.([0-9a-f]{64})$/.exec(cookies[COOKIE] ?? '') ?? [];
  if (plain === undefined || mac === undefined || Number(expires) < Date.now() / 1000) return null;
  return equalHash(mac, macOf(services, plain, email)) ? plain : null;
}
