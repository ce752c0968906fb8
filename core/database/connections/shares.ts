/** Shares of a connection pool: no tenant and no kind of work takes all of it, however long its statements wait. */

/** Who wants a connection. */
export interface Claim {
  /** `open`: without a signed-in caller, such as logins. `background`: no caller waits for it. */
  readonly kind: 'open' | 'agent' | 'request' | 'background';
  /** Whose request it is; null for those of the installation. */
  readonly tenant: string | null;
}

/** Connections of a pool by what they may be used for. */
export interface Limits {
  /** For the requests of one tenant, and for all background work. */
  readonly share: number;
  /** For requests and background work together: agents and logins have the rest to themselves. */
  readonly ordinary: number;
  /** For these and agents together: logins have the rest, and what asks without a claim, such as health. */
  readonly signedIn: number;
}

/** Pools that are smaller have no places to keep free. */
const LEAST_SIZE = 4;

/** The limits of a pool of this size: 6 of 10 for a tenant, 8 for all tenants, 9 together with agents. */
export function limitsOf(size: number): Limits {
  if (size < LEAST_SIZE) return { share: size, ordinary: size, signedIn: size };
  const ordinary = size - Math.max(1, Math.floor(size / 5));
  return { share: Math.max(2, Math.floor(ordinary * 0.75)), ordinary, signedIn: size - 1 };
}

interface Waiting {
  readonly claim: Claim;
  readonly admit: () => void;
}

/** Admits claims to a pool within its limits. Those that must wait are admitted in their order, past others that may not go yet. */
export class Shares {
  readonly #limits: Limits;
  readonly #waitMs: number;
  readonly #waiting = new Set<Waiting>();
  readonly #byShare = new Map<string, number>();
  #ordinary = 0;
  #agents = 0;

  /** @param size connections of the pool; @param waitMs milliseconds until a claim that is not admitted fails */
  constructor(size: number, waitMs: number) {
    this.#limits = limitsOf(size);
    this.#waitMs = waitMs;
  }

  /** Claims that wait now. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves when the claim may have a connection, with the function that gives the place back. Rejects after the waiting time. */
  enter(claim: Claim): Promise<() => void> {
    if (this.#hasRoom(claim)) return Promise.resolve(this.#take(claim));
    return new Promise((resolve, reject) => {
      const entry: Waiting = {
        claim,
        admit: () => {
          clearTimeout(timer);
          resolve(this.#take(claim));
        },
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(entry);
        // The words of the driver, since it means the same: core/database/errors.ts knows them.
        reject(new Error('timeout exceeded when trying to connect'));
      }, this.#waitMs);
      this.#waiting.add(entry);
    });
  }

  #hasRoom({ kind, tenant }: Claim): boolean {
    if (kind === 'open') return true;
    const { share, ordinary, signedIn } = this.#limits;
    if (this.#ordinary + this.#agents >= signedIn) return false;
    if (kind === 'agent') return true;
    return this.#ordinary < ordinary && (this.#byShare.get(shareOf(kind, tenant)) ?? 0) < share;
  }

  #take({ kind, tenant }: Claim): () => void {
    if (kind === 'open') return () => undefined;
    const own = kind === 'agent' ? null : shareOf(kind, tenant);
    this.#count(own, 1);
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#count(own, -1);
      for (const entry of this.#waiting) {
        if (!this.#hasRoom(entry.claim)) continue;
        this.#waiting.delete(entry);
        entry.admit();
      }
    };
  }

  #count(own: string | null, by: 1 | -1): void {
    if (own === null) {
      this.#agents += by;
      return;
    }
    this.#ordinary += by;
    const now = (this.#byShare.get(own) ?? 0) + by;
    if (now === 0) this.#byShare.delete(own);
    else this.#byShare.set(own, now);
  }
}

const shareOf = (kind: 'request' | 'background', tenant: string | null): string =>
  kind === 'background' ? kind : `${kind}:${tenant}`;
