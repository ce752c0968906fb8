/** How a login ends: with a session, or with a recorded failure. */
import type { Context } from '#core';
import loggedIn from '../../events/logged-in.ts';
import type { LoginUser } from '../../models/user.ts';
import { deviceCookie } from './known-devices.ts';
import { type Membership, ownerOf } from './places.ts';
import { type Issued, openSession, type Tokens } from './sessions.ts';

export interface LoggedIn {
  user: { id: string; email: string; name: string; mfaEnabled: boolean };
  tokens: Tokens;
  mfaRequired: false;
}
export interface Proof {
  /** Whether a second factor was verified already. */
  mfa: boolean;
  /** How the user logged in, for the audit trail: `password`, `sso`, `passkey`, `invitation`. */
  via: string;
}

/** Opens the session of a fully authenticated user in this transaction, and records the login. */
export async function letIn(
  ctx: Context,
  user: Pick<LoginUser, 'id' | 'email' | 'name' | 'mfaEnabled'>,
  place: Membership,
  { mfa, via }: Proof,
): Promise<{ body: LoggedIn; issued: Issued }> {
  const { id, email, name, mfaEnabled } = user;
  const opened = await openSession(ctx, { userId: id, mfa, place });
  const issued = { ...opened, cookies: { ...opened.cookies, ...deviceCookie(ctx, email) } };
  ctx.audit('user.login', {
    ...ownerOf(place),
    resourceType: 'user',
    resourceId: id,
    resourceName: email,
    details: { scope: place.scope, mfa, via },
    actor: { kind: 'user', id, email },
  });
  const { orgId } = place;
  if (orgId) ctx.emit(loggedIn, { userId: id, via, mfa }, { orgId });
  return { body: { user: { id, email, name, mfaEnabled }, tokens: issued.tokens, mfaRequired: false }, issued };
}

/** Recorded in the audit trail of the place that the user would have reached. */
export function recordFailure(
  ctx: Context,
  user: Pick<LoginUser, 'id' | 'email'>,
  place: Pick<Membership, 'orgId' | 'partnerId'> | undefined,
  errorMessage: string,
): void {
  ctx.auditAttempt('user.login.failed', {
    ...ownerOf(place),
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    result: 'failure',
    errorMessage,
    actor: { kind: 'user', id: user.id, email: user.email },
  });
}
