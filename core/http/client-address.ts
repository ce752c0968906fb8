/** The caller's address: the socket's, or the one that the outermost trusted proxy saw. */
import { isIP } from 'node:net';
import { type Cidr, isWithin, parseCidrs } from '../outbound/address-rules.ts';

/** Which proxies stand in front of the server, and the header in which they say who calls. */
export interface ProxyTrust {
  /** Lower case. */
  header: string;
  /** How many stand one behind the other, or the networks that they are in. */
  trusted: number | readonly string[];
}
export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export class ClientAddresses {
  readonly #header: string | undefined;
  readonly #hops: number;
  readonly #networks: readonly Cidr[];

  /** @param trust undefined where no proxy is trusted */
  constructor(trust: ProxyTrust | undefined) {
    this.#header = trust?.header;
    this.#hops = typeof trust?.trusted === 'number' ? trust.trusted : 0;
    this.#networks = typeof trust?.trusted === 'object' ? parseCidrs(trust.trusted) : [];
  }

  /** Whether connections from this address are those of a trusted proxy. */
  isProxy(address: string): boolean {
    return this.#hops > 0 || isWithin(plain(address), this.#networks);
  }

  /**
   * Each proxy appends the address that it was called from, so the entries are read from the right. What stands left of the entry of
   * the outermost trusted proxy was written by the caller.
   * @returns IPv4 or IPv6 text; an IPv4 address mapped into IPv6 is given as IPv4
   */
  of(headers: Headers, socketAddress: string): string {
    let address = plain(socketAddress);
    if (!this.#header) return address;
    const value = headers[this.#header];
    const entries = (Array.isArray(value) ? value.join(',') : (value ?? '')).split(',').reverse();
    for (const [index, entry] of entries.entries()) {
      const isTrusted = this.#hops > 0 ? index < this.#hops : isWithin(address, this.#networks);
      const next = addressIn(entry);
      if (!isTrusted || next === undefined) break;
      address = next;
    }
    return address;
  }
}

/** The address of an entry, which some proxies write with a port. */
function addressIn(entry: string): string | undefined {
  const text = entry.trim();
  const [, bracketed, v4] = /^(?:\[([^\]]+)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? [];
  const address = bracketed ?? v4 ?? text;
  return isIP(address) ? plain(address) : undefined;
}

function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

const FORWARDING = [
  'forwarded',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-forwarded-server',
];
const VENDORS = ['x-real-ip', 'cf-connecting-ip', 'cf-ray', 'true-client-ip'];

/** Whether a request carries what proxies add, wanted or not. */
export const isForwarded = (headers: Headers): boolean =>
  [...FORWARDING, ...VENDORS].some((name) => headers[name] !== undefined);
