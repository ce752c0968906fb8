/** The actor: the user, API key, agent or job in whose name a request or job runs. */

export interface Actor {
  readonly kind: 'user' | 'api_key' | 'agent' | 'job' | 'anonymous' | 'system';
  readonly id: string | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly mfa: boolean;
  /** The role or the organization requires a second factor and the user has none. */
  readonly mustEnrollMfa: boolean;
  readonly permissions: ReadonlySet<string>;
  readonly roleId: string | null;
  readonly sessionId: string | null;
  readonly ip: string | null;
  readonly userAgent: string | null;
}

/** The actor of a request without credentials. */
export const NOBODY: Actor = Object.freeze({
  kind: 'anonymous',
  id: null,
  email: null,
  name: null,
  mfa: false,
  mustEnrollMfa: false,
  permissions: new Set<string>(),
  roleId: null,
  sessionId: null,
  ip: null,
  userAgent: null,
});
