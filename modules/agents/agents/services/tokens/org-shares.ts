/** The rate limit on the calls of all agents of an organization together, by its number of devices. */
import DataLoader from 'dataloader';
import { defineService, errors, type Services, type StartServices } from '#core';

const WINDOW_SECONDS = 60;
const MIN_CALLS = 600;
const CALLS_PER_DEVICE = 12;
const MAX_CALLS = 20_000;
/** The share of the limit that all calls may use. The rest is for heartbeats, command starts and results. */
const NON_VITAL_SHARE = 0.8;
/** How long the number of devices is cached, in milliseconds. */
const COUNT_CACHE_MS = 60_000;
const MAX_ORGS = 10_000;

export const shareOf = (devices: number): number =>
  Math.min(MAX_CALLS, Math.max(MIN_CALLS, CALLS_PER_DEVICE * devices));

export class OrgShares {
  readonly #known = new Map<string, { most: Promise<number>; at: number }>();
  readonly #loader: DataLoader<string, number>;

  /** @param count numbers of devices by organization, for all that were requested in one turn of the event loop. */
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
   * Counts a call. Throws RATE_LIMITED with Retry-After when the limit is reached.
   * @param vital true for a heartbeat, a command start or a result.
   */
  async spend(counters: Services['counters'], orgId: string, vital: boolean): Promise<void> {
    const most = await this.#most(orgId);
    const limit = vital ? most : Math.floor(most * NON_VITAL_SHARE);
    // While the counter store is unavailable, nothing is counted or limited.
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
    if (known && performance.now() - known.at < COUNT_CACHE_MS) return known.most;
    const most = this.#loader.load(orgId);
    const entry = { most, at: performance.now() };
    const oldest = this.#known.keys().next();
    if (this.#known.size >= MAX_ORGS && !oldest.done) this.#known.delete(oldest.value);
    this.#known.set(orgId, entry);
    most.catch(() => this.#known.get(orgId) === entry && this.#known.delete(orgId));
    return most;
  }
}

export const ORG_SHARES = defineService<OrgShares>('agents.org-shares');

export const orgShares = ({ asPlatform }: StartServices): OrgShares =>
  new OrgShares((orgIds) => asPlatform((ctx) => ctx.use('devices').countDevices(orgIds)));
