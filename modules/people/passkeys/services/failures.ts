/** Logins that failed at the passkey, recorded in the audit trail like those that failed at the password. */
import type { Context } from '#core';

/** @param place the owner of the audit trail: where the user would have logged in */
export function recordFailure(
  ctx: Context,
  user: { id: string; email: string },
  place: { orgId: string | null; partnerId: string | null } | undefined,
  errorMessage: string,
): void {
  ctx.auditAttempt('user.login.failed', {
    orgId: place?.orgId ?? null,
    partnerId: place?.partnerId ?? null,
    resourceType: 'user',
    resourceId: user.id,
    resourceName: user.email,
    result: 'failure',
    errorMessage,
    details: { via: 'passkey' },
    actor: { kind: 'user', id: user.id, email: user.email },
  });
}
