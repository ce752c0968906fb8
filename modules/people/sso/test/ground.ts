/** What the tests of single sign-on stand on: a platform that may call this machine, providers, and people. */
import { randomUUID } from 'node:crypto';
import type { ClientMetadata } from 'oidc-provider';
import { type ErrorBody, type PlatformClient, sharedPlatform, type Tenant, tenant } from '#test';
import { CALLBACK } from './browser.ts';
import { CLIENT, IdentityProvider, type Somebody } from './identity-provider.ts';

const LOCAL = { OUTBOUND_ALLOW_HTTP: 'true', OUTBOUND_ALLOW_CIDRS: '127.0.0.0/8', TRUST_PROXY_HEADERS: 'true' };

export const startPlatform = (env: Record<string, string> = {}): Promise<PlatformClient> =>
  sharedPlatform({ ...LOCAL, ...env });

/** @param client how the provider knows this installation */
export const startProvider = (client: Partial<ClientMetadata> = {}): Promise<IdentityProvider> =>
  new IdentityProvider(CALLBACK, client).start();

export interface ProviderSeen {
  id: string;
  orgId: string;
  name: string;
  status: string;
  issuer: string;
  hasClientSecret: boolean;
  allowedDomains: string;
  testedAt: string | null;
}
export type Answer = { data: ProviderSeen } & ErrorBody;

export const bodyOf = (issuer: string, more: object = {}) => ({ name: 'Head office', issuer, ...CLIENT, ...more });

/** Creates a provider and sets it active. */
export async function activeProvider(
  platform: PlatformClient,
  { orgAdmin }: Pick<Tenant, 'orgAdmin'>,
  issuer: string,
  more: object = {},
): Promise<ProviderSeen> {
  const { token } = orgAdmin;
  const made = await platform.call<Answer>('POST', '/sso/providers', { token, body: bodyOf(issuer, more) });
  if (made.status !== 201) throw new Error(`no provider: ${JSON.stringify(made.body)}`);
  const set = await platform.call<Answer>('POST', `/sso/providers/${made.body.data.id}/status`, {
    token,
    body: { status: 'active' },
  });
  if (set.status !== 200) throw new Error(`not active: ${JSON.stringify(set.body)}`);
  return set.body.data;
}

/** A tenant that logs in through the provider. */
export async function place(platform: PlatformClient, issuer: string, more: object = {}) {
  const owner = await tenant(platform);
  return { ...owner, provider: await activeProvider(platform, owner, issuer, more) };
}

export const person = (email = `${randomUUID().slice(0, 8)}@example.com`, more: Partial<Somebody> = {}): Somebody => ({
  sub: randomUUID(),
  email,
  email_verified: true,
  name: 'Ada Turner',
  ...more,
});
