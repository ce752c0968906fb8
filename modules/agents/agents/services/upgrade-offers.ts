/** Asks whoever knows the agents' versions what a beat is offered; without them, nothing. */

import type { ReceivedHeartbeat, UpgradeOffers } from '#agent-protocol';
import type { Context } from '#core';
import type { KnownToken } from './tokens/token-cache.ts';

const NONE: UpgradeOffers = { upgradeTo: null, helperUpgradeTo: null, watchdogUpgradeTo: null };

/** A watchdog's beat names its own version as the agent's would. */
const versionsOf = (role: 'agent' | 'watchdog', { agentVersion, helperVersion, watchdogVersion }: ReceivedHeartbeat) =>
  role === 'watchdog'
    ? { agent: null, helper: null, watchdog: watchdogVersion ?? agentVersion ?? null }
    : { agent: agentVersion ?? null, helper: helperVersion ?? null, watchdog: watchdogVersion ?? null };

/** Keys that manifests may be signed with; an agent pins those that it is given at its enrollment. */
export const trustKeys = (ctx: Context): string[] => [...(ctx.fillings('agents.offers')[0]?.trustKeys(ctx) ?? [])];

/** An offer that cannot be made must not fail the beat. */
export async function upgradeOffers(
  ctx: Context,
  token: KnownToken,
  body: ReceivedHeartbeat,
  { role, active, busy }: { role: 'agent' | 'watchdog'; active: boolean; busy: boolean },
): Promise<UpgradeOffers & { manifestTrustKeys: string[] }> {
  const [offers] = ctx.fillings('agents.offers');
  if (!offers) return { ...NONE, manifestTrustKeys: [] };
  const { deviceId, agentId, orgId } = token;
  const beat = { deviceId, agentId, orgId, versions: versionsOf(role, body), busy };
  const made = active
    ? await offers.answer(ctx, beat).catch((error: Error) => {
        ctx.log.error({ err: error, deviceId }, 'no update could be offered');
        return NONE;
      })
    : NONE;
  return { ...made, manifestTrustKeys: trustKeys(ctx) };
}
