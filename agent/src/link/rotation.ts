/** The two-phase change of tokens: fetch, store on disk, confirm with the new one. */

import type { TokenSet } from '#agent-protocol';
import { tokensOf } from '../store/state.ts';
import { RefusedError } from './client.ts';
import type { Log } from './log.ts';
import type { Session } from './session.ts';

/** Fetches new tokens (unless some wait already) and confirms them. */
export async function rotateTokens(session: Session, log: Log): Promise<void> {
  if (!session.state.pendingTokens) {
    const answer = await session.call<TokenSet>('POST', 'rotate-token', {});
    await session.change({ pendingTokens: tokensOf(answer) });
  }
  await confirmTokens(session, log);
}

/**
 * Confirms tokens that wait on disk; true when the agent now uses them.
 * The answer to an earlier confirmation may have been lost: then the new token is the current one already, and the
 * server says `pending_token_required` of a token it accepts.
 */
export async function confirmTokens(session: Session, log: Log): Promise<boolean> {
  const { pendingTokens } = session.state;
  if (!pendingTokens) return false;
  try {
    await session.call('POST', 'rotate-token/confirm', {}, { token: pendingTokens.authToken });
  } catch (fault) {
    if (!(fault instanceof RefusedError)) throw fault;
    const code = fault.code.toLowerCase();
    if (fault.status === 401 || (fault.status === 409 && code !== 'pending_token_required')) {
      await session.change({ pendingTokens: undefined });
      log('The new tokens were not accepted; the old ones stay in use.', 'warn');
      return false;
    }
    if (fault.status !== 409) throw fault;
  }
  await session.change({ tokens: pendingTokens, pendingTokens: undefined });
  session.heard();
  log('New tokens are in use.');
  return true;
}
