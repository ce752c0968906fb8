/** How many calls a minute the agents of an organization may make together. */
import DataLoader from 'dataloader';
import { defineService, errors, type Services, type StartServices } from '#core';

const WINDOW_SECONDS = 60;
const LEAST = 600;
const PER_DEVICE = 12;
const MOST = 20_000;
/** Heartbeats, starts and results alone may use the rest: whatever else a crowd of agents does, these get through. */
const OPEN_SHARE = 0.8;
/** How old the number of devices may be, in milliseconds. */
const KEEP_MS = 60_000;
const MOST_ORGS = 10_000;

export const shareOf = (devices: number): number => Math.min(MOST, Math.max(LEAST, PER_DEVICE * devices));

export class OrgShares {
  readonly #known = new Map<string, { most: Promise<number>; at: number }>();
  readonly #loader: DataLoader<string, number>;

  /** @param count devices by organization, for all that were asked for in one turn of the loop. */
  constructor(count: (orgIds: readonly string[]) => Promise<Map<string, number>>) {
    this.#loader = new DataLoader<string, number>(
      async (orgIds) => {
        const counts = await count(orgIds);
        return orgIds.map((orgId) => shareOf(counts.get(orgId) ?? 0));
      },
      { cache: false, maxBatchSize: 500, batchScheduleFn: (run) => setImmediate(run) },
    );
  }

  /**
   * Counts a call. Throws RATE_LIMITED with Retry-After where the share is used up.
   * @param vital a heartbeat, a start or a result.
   */
  async spend(counters: Services['counters'], orgId: string, vital: boolean): Promise<void> {
    const most = await this.#most(orgId);
    const limit = vital ? most : Math.floor(most * OPEN_SHARE);
    // While the store is away nothing is counted or refused.
    const hit = await counters.hit(`agents-org:${orgId}`, limit, WINDOW_SECONDS).catch(() => null);
    if (!hit || hit.allowed) return;
    const retryAfter = Math.max(1, hit.retryAfterSeconds);
    throw errors.RateLimited({
      message: 'The agents of this organization call too often',
      beside: { retryAfter },
      headers: { 'retry-after': String(retryAfter) },
    });
  }

  #most(orgId: string): Promise<number> {
    const known = this.#known.get(orgId);
    if (known && performance.now() - known.at < KEEP_MS) return known.most;
    const most = this.#loader.load(orgId);
    const entry = { most, at: performance.now() };
    const oldest = this.#known.keys().next();
    if (this.#known.size >= MOST_ORGS && !oldest.done) this.#known.delete(oldest.value);
    this.#known.set(orgId, entry);
    most.catch(() => this.#known.get(orgId) === entry && this.#known.delete(orgId));
    return most;
  }
}

export const ORG_SHARES = defineService<OrgShares>('agents.org-shares');

export const orgShares = ({ asPlatform }: StartServices): OrgShares =>
  new OrgShares((orgIds) => asPlatform((ctx) => ctx.use('devices').countDevices(orgIds)));
