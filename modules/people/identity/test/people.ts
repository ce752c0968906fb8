/** People with passwords, and the cookie a browser would keep. */
import { randomUUID } from 'node:crypto';
import { hashPassword } from '#core/auth';
import type { PlatformClient } from '#test';

export const PASSWORD = 'quite-a-Long-horse-9';

/** Gives a user of the kit a password. */
export async function givePassword(platform: PlatformClient, userId: string): Promise<void> {
  await platform.sql('update users set password_hash = $2 where id = $1', [userId, await hashPassword(PASSWORD)]);
}

/** The refresh cookie of an answer: `pair` to send back, `raw` as it was set. Both empty without one. */
export function refreshCookie(headers: Headers): { pair: string; raw: string } {
  const raw = headers.getSetCookie().find((cookie) => cookie.startsWith('svc_refresh_token=')) ?? '';
  return { pair: raw.split(';')[0] ?? '', raw };
}

/** An address of its own, so that limits by address do not mix tests. */
export const fromSomewhere = () => ({
  'x-forwarded-for': `2001:db8:${randomUUID().slice(0, 4)}:${randomUUID().slice(0, 4)}::1`,
});

export interface Registered {
  user: { id: string; email: string };
  partner: { id: string; slug: string };
  tokens: { accessToken: string; expiresInSeconds: number };
  mfaRequired: boolean;
}
export const registration = (companyName = 'Northwind IT') => ({
  companyName,
  name: 'Ada Turner',
  email: `${randomUUID().slice(0, 8)}@example.com`,
  password: PASSWORD,
  acceptTerms: true,
});
