/** Security notices by mail: users learn of changes to their account that they did not make. */
import type { Context } from '#core';

const NOTICES = {
  'password-changed': ['your password was changed', 'the password of your account was changed'],
  'password-reset': ['your password was reset', 'the password of your account was replaced with a reset link'],
  'mfa-enabled': ['two-factor authentication was set up', 'a second factor was set up for your account'],
  'mfa-disabled': ['two-factor authentication was switched off', 'the second factor was removed from your account'],
  'phone-changed': ['your phone number was changed', 'a new phone number was confirmed for your account'],
  'recovery-codes-renewed': ['your recovery codes were replaced', 'all recovery codes of your account were replaced'],
  'recovery-code-used': ['a recovery code was used', 'a recovery code was used to log in to your account'],
  'passkey-added': ['a passkey was added', 'a passkey was added to your account'],
  'passkey-removed': ['a passkey was removed', 'a passkey was removed from your account'],
  'factors-removed': [
    'your second factor was removed',
    'an administrator removed the second factor, the phone, the passkeys and the recovery codes of your account',
  ],
  'already-registered': [
    'you already have an account',
    'someone tried to register with this address, which already has an account; log in, or ask for a new password',
  ],
} as const;

export type NoticeKind = keyof typeof NOTICES;
export const NOTICE_KINDS = Object.keys(NOTICES) as NoticeKind[];
/** Whom a mail goes to, and the request that caused it. */
export interface Sent {
  email: string;
  /** ISO 8601, UTC. */
  at: string;
  ip: string | null;
}
export interface Notice extends Sent {
  kind: NoticeKind;
}

/** Queues the mail with this transaction. */
export function tell(ctx: Context, email: string | null, kind: NoticeKind): void {
  if (!email) return;
  const notice = { email, kind, at: new Date().toISOString(), ip: ctx.actor.ip };
  ctx.addJob('identity/send-notice', notice, { orgId: null });
}

/** Sends to the account of that address; ends quietly when it no longer exists. */
export async function sendNotice(ctx: Context, { email, kind, ...request }: Notice): Promise<void> {
  const user = await ctx.asPlatform(async (own) => {
    const { rows } = await own.sql<{ email: string }>('select email from users where lower(email) = lower($1)', [
      email,
    ]);
    return rows[0];
  });
  if (!user || !(await mayTell(ctx, user.email, kind))) return;
  const [subject, sentence] = NOTICES[kind];
  // Without the name: a person who registers another person's address would choose what we write to them.
  await ctx.services.mail.send({
    to: user.email,
    subject: `Quartermaster: ${subject}`,
    text: `Hello,\n\n${sentence}.\n\n${origin(request)}\n\n${closing(kind)}\n`,
  });
}

/** When and from where the request came, as a mail says it. */
export const origin = ({ at, ip }: Pick<Sent, 'at' | 'ip'>): string =>
  `When: ${at.slice(0, 16).replace('T', ' ')} UTC\nFrom: ${ip ?? 'unknown address'}`;

/** A stranger can trigger this notice up to the registration limits, so a mailbox gets at most three a day. */
async function mayTell(ctx: Context, email: string, kind: NoticeKind): Promise<boolean> {
  if (kind !== 'already-registered') return true;
  const hit = await ctx.services.counters.hit(`identity-notice:${email}`, 3, 86_400).catch(() => null);
  return hit?.allowed === true;
}

function closing(kind: NoticeKind): string {
  if (kind === 'already-registered') return 'If this was not you, you need to do nothing: your account is unchanged.';
  return 'If this was not you, ask for a new password at once and tell your administrator.';
}
