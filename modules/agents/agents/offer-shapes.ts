/** The contributions to the slot `agents.offers`: which updates the answer to a heartbeat offers. */
import type { UpgradeOffers } from '#agent-protocol';
import type { Context } from '#core';

/** A stored heartbeat of an active device. Versions that it does not name are null. */
export interface OfferRequest {
  deviceId: string;
  agentId: string;
  orgId: string;
  versions: { agent: string | null; watchdog: string | null };
  /** The same answer carries commands or the request to uninstall, so it offers no update. */
  busy: boolean;
}
/** Called with every heartbeat, so it answers from memory and reads the database in group commits only. */
export interface AgentOffers {
  answer(ctx: Context, request: OfferRequest): Promise<UpgradeOffers>;
  /** Base64 of the Ed25519 keys that may sign manifests. */
  trustKeys(ctx: Context): readonly string[];
  /** The signed list by which enrolled agents come to trust other keys. */
  trustKeyList(ctx: Context): string | null;
}
