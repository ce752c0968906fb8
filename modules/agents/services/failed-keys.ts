/** Counts wrong enrollment keys by address, so that a guesser is stopped while a site full of installers is not. */
import { errors } from '#core';

const WINDOW_MS = 60_000;
const MOST_FAILURES = 10;
const MOST_ADDRESSES = 10_000;

/** At most ten wrong keys a minute and address, in this process (domain/agents, section 2, rule 1). */
export class FailedKeys {
  readonly #failures = new Map<string, number[]>();

  /** Throws RATE_LIMITED with Retry-After when the address has used up its failures. */
  check(ip: string, now = Date.now()): void {
    const recent = this.#recent(ip, now);
    const oldest = recent[0];
    if (recent.length < MOST_FAILURES || oldest === undefined) return;
    const retryAfter = Math.max(1, Math.ceil((oldest + WINDOW_MS - now) / 1000));
    throw errors.RateLimited({ beside: { retryAfter }, headers: { 'retry-after': String(retryAfter) } });
  }

  add(ip: string, now = Date.now()): void {
    const recent = this.#recent(ip, now);
    this.#failures.delete(ip);
    // The map keeps the order of insertion: the address that failed longest ago goes first.
    const first = this.#failures.keys().next();
    if (this.#failures.size >= MOST_ADDRESSES && !first.done) this.#failures.delete(first.value);
    this.#failures.set(ip, [...recent, now].slice(-MOST_FAILURES));
  }

  #recent(ip: string, now: number): number[] {
    return (this.#failures.get(ip) ?? []).filter((at) => at > now - WINDOW_MS);
  }
}
