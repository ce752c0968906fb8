/** Caches in this process which token belongs to which device, so that a heartbeat costs no statement. */
import DataLoader from 'dataloader';
import { type Context, defineService } from '#core';
import type { Credential } from '../../models/credential.ts';

/** The notice that drops the entries of a device in all processes; the payload is its id. */
export const AGENT_NOTICE = 'agent';

/** How long an entry is valid for routes that do not depend on the state of device and tenant. Notices end it earlier. */
const CACHE_MS = 600_000;
/** How long an entry is valid for all other routes, in milliseconds. */
const FRESH_MS = 1_000;
const MAX_ENTRIES = 50_000;

export interface KnownToken extends Credential {
  siteId: string;
  partnerId: string;
  hostname: string;
  lifecycle: 'pending' | 'active' | 'quarantined' | 'decommissioned';
  tenantActive: boolean;
}
/** `gone` is the token of a purged device. Unknown tokens are not cached, because anyone can invent them. */
export type TokenLookup =
  | { kind: 'known'; token: KnownToken }
  | { kind: 'gone'; agentId: string }
  | { kind: 'unknown' };
export type ReadTokens = (hashes: readonly string[]) => Promise<Map<string, TokenLookup>>;

interface Entry {
  token: KnownToken;
  /** When the read began, in milliseconds of the monotonic clock. */
  readAt: number;
}

export class TokenCache {
  readonly #entries = new Map<string, Entry>();
  readonly #byDevice = new Map<string, Set<string>>();
  readonly #loader: DataLoader<string, TokenLookup>;
  readonly #most: number;
  #generation = 0;

  /** @param read finds tokens by hash; called once per turn of the event loop for all hashes that were requested in it. */
  constructor(read: ReadTokens, most = MAX_ENTRIES) {
    this.#most = most;
    this.#loader = new DataLoader<string, TokenLookup>(
      async (hashes) => {
        const found = await read(hashes);
        return hashes.map((hash) => found.get(hash) ?? { kind: 'unknown' });
      },
      { cache: false, maxBatchSize: 500, batchScheduleFn: (run) => setImmediate(run) },
    );
  }

  /** @param fresh true where the answer depends on the state of the device or its tenant. */
  async find(hash: string, fresh: boolean): Promise<TokenLookup> {
    const now = performance.now();
    const entry = this.#entries.get(hash);
    if (entry && now - entry.readAt < (fresh ? FRESH_MS : CACHE_MS)) return { kind: 'known', token: entry.token };
    const generation = this.#generation;
    const found = await this.#loader.load(hash);
    // A notice during the read may concern this token, so the result is used and not kept.
    if (generation === this.#generation) {
      this.#drop(hash);
      // A pending token may be confirmed by any process at any time, so it is never cached.
      const keep = found.kind === 'known' && found.token.state !== 'pending';
      if (keep) this.#keep(hash, { token: found.token, readAt: now });
    }
    return found;
  }

  /** The entry of a token that was just authenticated; undefined when a notice has dropped it since. */
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
