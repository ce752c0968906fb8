/** Discovery documents, cached for minutes: a public login must not cause a request to the provider each time. */
import type { ServerMetadata } from 'openid-client';
import { type Context, defineService } from '#core';

const KEEP_MS = 5 * 60_000;
const MAX_CONFIGURATIONS = 500;

interface Held {
  until: number;
  metadata: Promise<ServerMetadata>;
}

export class Discoveries {
  readonly #held = new Map<string, Held>();

  /** Callers at the same time share one request; a failure is not kept. */
  get(issuer: string, load: () => Promise<ServerMetadata>): Promise<ServerMetadata> {
    const held = this.#held.get(issuer);
    if (held && held.until > performance.now()) return held.metadata;
    this.#held.delete(issuer);
    const [oldest] = this.#held.keys();
    if (this.#held.size >= MAX_CONFIGURATIONS && oldest !== undefined) this.#held.delete(oldest);
    const metadata = load();
    this.#held.set(issuer, { until: performance.now() + KEEP_MS, metadata });
    metadata.catch(() => this.forget(issuer));
    return metadata;
  }

  /** For a provider that answers otherwise than its document says. */
  forget(issuer: string): void {
    this.#held.delete(issuer);
  }
}

export const DISCOVERIES = defineService<Discoveries>('sso.discoveries');

export const discoveries = (ctx: Context): Discoveries => ctx.services.get(DISCOVERIES);
