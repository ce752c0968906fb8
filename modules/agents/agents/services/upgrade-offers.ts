/** The update offers in the answer to a heartbeat, from the contribution to `agents.offers`; none without one. */

import type { HeartbeatAnswer, ReceivedHeartbeat, UpgradeOffers } from '#agent-protocol';
import type { Context } from '#core';
import type { KnownToken } from './tokens/token-cache.ts';

const NONE: UpgradeOffers = { upgradeTo: null, watchdogUpgradeTo: null };

/** A watchdog may send its own version as `agentVersion`. */
const versionsOf = (role: 'agent' | 'watchdog', { agentVersion, watchdogVersion }: ReceivedHeartbeat) =>
  role === 'watchdog'
    ? { agent: null, watchdog: watchdogVersion ?? agentVersion ?? null }
    : { agent: agentVersion ?? null, watchdog: watchdogVersion ?? null };

/** Keys that may sign manifests. Agents pin the keys that they receive at their enrollment. */
export const trustKeys = (ctx: Context): string[] => [...(ctx.contributions('agents.offers')[0]?.trustKeys(ctx) ?? [])];

/** A failure to make an offer must not fail the heartbeat. */
export async function upgradeOffers(
  ctx: Context,
  token: KnownToken,
  body: ReceivedHeartbeat,
  { role, active, busy }: { role: 'agent' | 'watchdog'; active: boolean; busy: boolean },
): Promise<UpgradeOffers & Pick<HeartbeatAnswer, 'manifestTrustKeys' | 'trustKeyList'>> {
  const [offers] = ctx.contributions('agents.offers');
  if (!offers) return { ...NONE, manifestTrustKeys: [], trustKeyList: null };
  const { deviceId, agentId, orgId } = token;
  const request = { deviceId, agentId, orgId, versions: versionsOf(role, body), busy };
  const made = active
    ? await offers.answer(ctx, request).catch((error: Error) => {
        ctx.log.error({ err: error, deviceId }, 'the update offer of an agent failed');
        return NONE;
      })
    : NONE;
  return { ...made, manifestTrustKeys: trustKeys(ctx), trustKeyList: offers.trustKeyList(ctx) };
}
