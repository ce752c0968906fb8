/** The slot `agents.offers`: what the answer to a heartbeat says about newer programs. */
import type { UpgradeOffers } from '#agent-protocol';
import type { Context } from '#core';

/** A beat of an active device that was counted; versions that it did not name are null. */
export interface OfferRequest {
  deviceId: string;
  agentId: string;
  orgId: string;
  versions: { agent: string | null; helper: string | null; watchdog: string | null };
  /** The same answer carries commands, or the device was just told to go: nothing is offered beside. */
  busy: boolean;
}
/** Asked with every beat, so it answers from memory and goes to the database in group commits only. */
export interface AgentOffers {
  answer(ctx: Context, request: OfferRequest): Promise<UpgradeOffers>;
  /** Base64 of the Ed25519 keys that a manifest may be signed with. */
  trustKeys(ctx: Context): readonly string[];
}
