/** Remembers in this process which token speaks for which device, so that a heartbeat costs no statement. */
import DataLoader from 'dataloader';
import { type Context, defineService } from '#core';
import type { Credential } from '../../models/credential.ts';

/** The channel that empties the caches of every process; the payload is the device's id. */
export const AGENT_NOTICE = 'agent';

/** How long a read stays usable on routes that are open in every state; notices end it earlier. */
const KEEP_MS = 600_000;
/** How old the device's and its tenant's state may be where it decides. */
const FRESH_MS = 1_000;
const MOST_ENTRIES = 50_000;

export interface KnownToken extends Credential {
  siteId: string;
  partnerId: string;
  hostname: string;
  lifecycle: 'pending' | 'active' | 'quarantined' | 'decommissioned';
  tenantActive: boolean;
}
/** `gone`: the token of a purged device. Unknown tokens are not remembered: anybody can make them up. */
export type Found = { kind: 'known'; token: KnownToken } | { kind: 'gone'; agentId: string } | { kind: 'unknown' };
export type ReadTokens = (hashes: readonly string[]) => Promise<Map<string, Found>>;

interface Entry {
  token: KnownToken;
  /** Milliseconds of the monotonic clock at which the read began. */
  readAt: number;
}

export class TokenCache {
  readonly #entries = new Map<string, Entry>();
  readonly #byDevice = new Map<string, Set<string>>();
  readonly #loader: DataLoader<string, Found>;
  readonly #most: number;
  #generation = 0;

  /** @param read finds tokens by hash; called once a turn of the loop with all that were asked for. */
  constructor(read: ReadTokens, most = MOST_ENTRIES) {
    this.#most = most;
    this.#loader = new DataLoader<string, Found>(
      async (hashes) => {
        const found = await read(hashes);
        return hashes.map((hash) => found.get(hash) ?? { kind: 'unknown' });
      },
      { cache: false, maxBatchSize: 500, batchScheduleFn: (run) => setImmediate(run) },
    );
  }

  /** @param fresh true where the answer depends on the state of the device or its tenant. */
  async find(hash: string, fresh: boolean): Promise<Found> {
    const now = performance.now();
    const entry = this.#entries.get(hash);
    if (entry && now - entry.readAt < (fresh ? FRESH_MS : KEEP_MS)) return { kind: 'known', token: entry.token };
    const generation = this.#generation;
    const found = await this.#loader.load(hash);
    // A notice that came meanwhile may concern this very token: use what was read, but do not keep it.
    if (generation === this.#generation) {
      this.#drop(hash);
      // A pending token becomes the current one between two calls, maybe in another process: it is read every time.
      const keep = found.kind === 'known' && found.token.state !== 'pending';
      if (keep) this.#keep(hash, { token: found.token, readAt: now });
    }
    return found;
  }

  /** What is remembered of a token that was just authenticated; undefined when it was forgotten meanwhile. */
  peek(hash: string): KnownToken | undefined {
    return this.#entries.get(hash)?.token;
  }

  forgetDevice(deviceId: string): void {
    this.#generation += 1;
    for (const hash of this.#byDevice.get(deviceId) ?? []) this.#entries.delete(hash);
    this.#byDevice.delete(deviceId);
  }

  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
    this.#byDevice.clear();
  }

  get size(): number {
    return this.#entries.size;
  }

  #keep(hash: string, entry: Entry): void {
    if (this.#entries.size >= this.#most) {
      const oldest = this.#entries.keys().next();
      if (!oldest.done) this.#drop(oldest.value);
    }
    this.#entries.set(hash, entry);
    const hashes = this.#byDevice.get(entry.token.deviceId) ?? new Set();
    hashes.add(hash);
    this.#byDevice.set(entry.token.deviceId, hashes);
  }

  #drop(hash: string): void {
    const entry = this.#entries.get(hash);
    if (!entry) return;
    this.#entries.delete(hash);
    const hashes = this.#byDevice.get(entry.token.deviceId);
    hashes?.delete(hash);
    if (hashes?.size === 0) this.#byDevice.delete(entry.token.deviceId);
  }
}

export const TOKEN_CACHE = defineService<TokenCache>('agents.tokens');

export const tokenCache = (ctx: Context): TokenCache => ctx.services.get(TOKEN_CACHE);
