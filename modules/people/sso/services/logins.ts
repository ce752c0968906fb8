/** The redirect to the identity provider, and the return from it. */
import { type Context, type Reply, type ReplyOptions, reply } from '#core';
import { equalHash, sha256Hex } from '#core/auth';
import { LoginRefused } from '../errors.ts';
import type { Provider } from '../models/provider.ts';
import { issueCode } from './codes.ts';
import { depart, identify } from './conversations.ts';
import { admit } from './identities.ts';
import { servingProvider } from './serving.ts';
import { browserCookie, newBrowser, openSession, type SsoSession, takeSession } from './sessions.ts';

/** Caches must not store any answer of a login. */
const redirect = (location: string, cookies: NonNullable<ReplyOptions['cookies']> = {}): Reply =>
  reply(null, { status: 302, headers: { location, 'cache-control': 'no-store' }, cookies });

/** The browser returns to the login page with an error code; the exact reason is logged. */
async function orRefuse(ctx: Context, run: () => Promise<Reply>): Promise<Reply> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof LoginRefused)) throw error;
    ctx.log.warn({ code: error.code, reason: error.message }, 'single sign-on refused');
    return redirect(`${ctx.services.config.http.publicUrl}/login?error=${error.code}`);
  }
}

/**
 * Sends the browser to the organization's provider.
 * @param browser its secret from another login under way, so that both can finish; null without one
 */
export function beginLogin(
  ctx: Context,
  orgId: string,
  returnTo: string | null,
  browser: string | null,
): Promise<Reply> {
  return orRefuse(ctx, async () => {
    const provider = await ctx.asPlatform((own) => servingProvider(own, { orgId }));
    if (!provider) throw new LoginRefused('provider_not_found', 'the organization has no active provider');
    const { codeVerifier, nonce, to } = await depart(ctx, provider);
    const secret = browser ?? newBrowser();
    const state = await ctx.asPlatform((own) =>
      openSession(own, provider, { codeVerifier, nonce, returnTo, browser: secret }),
    );
    return redirect(to(state), browserCookie(secret));
  });
}

/** Receives the browser from the provider and redirects it to the application, with a code in the fragment. */
export function finishLogin(ctx: Context, answer: Record<string, unknown>, browser: string | null): Promise<Reply> {
  return orRefuse(ctx, async () => {
    const { session, provider } = await resume(ctx, answer.state, browser);
    if (answer.error === 'access_denied') throw new LoginRefused('access_denied', 'the user or the provider declined');
    if (answer.error !== undefined) throw new LoginRefused('provider_error', 'the provider answered with an error');
    const person = await identify(ctx, provider, session, answer);
    const code = await ctx.asPlatform(async (own) => {
      // The settings of now apply, not those from before the provider was asked.
      const serving = mustServe(await servingProvider(own, { id: provider.id }), session);
      const { id } = await admit(own, serving, person);
      const { browserHash } = session;
      return issueCode(own, { providerId: serving.id, orgId: serving.orgId, userId: id, mfa: person.mfa, browserHash });
    });
    return redirect(`${ctx.services.config.http.publicUrl}${session.returnTo ?? '/login'}#ssoCode=${code}`);
  });
}

/** The login that this answer belongs to; it is used up in any case. */
async function resume(
  ctx: Context,
  state: unknown,
  browser: string | null,
): Promise<{ session: SsoSession; provider: Provider }> {
  if (typeof state !== 'string' || state === '') throw new LoginRefused('invalid_response', 'there is no state');
  const { session, provider } = await ctx.asPlatform(async (own) => {
    const session = await takeSession(own, state);
    return { session, provider: session && (await servingProvider(own, { id: session.providerId })) };
  });
  if (!session || session.expired) throw new LoginRefused('session_expired', 'the login is unknown, used or too old');
  if (browser === null || !equalHash(sha256Hex(browser), session.browserHash)) {
    throw new LoginRefused('invalid_response', 'another browser began this login');
  }
  return { session, provider: mustServe(provider, session) };
}

/** A provider whose issuer has changed is not the one that the browser was sent to. */
function mustServe(provider: Provider | null, session: SsoSession): Provider {
  if (provider?.issuer !== session.issuer || provider.clientId !== session.clientId) {
    throw new LoginRefused('provider_not_found', 'the provider was removed, deactivated or changed');
  }
  return provider;
}
