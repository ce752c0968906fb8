/** Which addresses the outbound client may talk to: the public internet, and what the operator allows besides. */
import type { LookupAddress } from 'node:dns';
import ipaddr from 'ipaddr.js';

/** A network the operator allows although it is not public. */
export type Cidr = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Why a URL is refused. */
export type BlockReason = 'invalid' | 'scheme' | 'credentials' | 'address';

/** A URL that must not be called. Its message names the host, never the address it leads to. */
export class UrlBlockedError extends Error {
  readonly code = 'URL_BLOCKED';
  readonly reason: BlockReason;

  constructor(reason: BlockReason, message: string) {
    super(message);
    this.name = 'UrlBlockedError';
    this.reason = reason;
  }
}

/** Reads `OUTBOUND_ALLOW_CIDRS`; throws `TypeError` for a network it cannot read. */
export function parseCidrs(list: readonly string[]): Cidr[] {
  return list.map((text) => {
    try {
      return ipaddr.parseCIDR(text.trim());
    } catch {
      throw new TypeError(`${text} is not a network in CIDR notation`);
    }
  });
}

/**
 * Checks all of a URL that can be checked without asking for its name; for use before storing one.
 * Throws `UrlBlockedError`. The URL parser has already turned decimal, octal and hexadecimal hosts into plain ones.
 */
export function checkUrl(url: string | URL, rules: { allowHttp: boolean; allowCidrs: readonly Cidr[] }): URL {
  const parsed = URL.parse(String(url));
  if (parsed === null) throw new UrlBlockedError('invalid', 'This is not a URL');
  if (parsed.protocol !== 'https:' && !(rules.allowHttp && parsed.protocol === 'http:')) {
    throw new UrlBlockedError('scheme', `Only ${rules.allowHttp ? 'http and https' : 'https'} URLs may be called`);
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw new UrlBlockedError('credentials', 'A URL must not carry credentials');
  }
  const host = parsed.hostname.replace(/^\[|\]$/g, '');
  if (ipaddr.isValid(host)) checkAddresses(parsed.hostname, [{ address: host }], rules.allowCidrs);
  return parsed;
}

/** Throws `UrlBlockedError` when there is no address, or any of them is neither public nor allowed. */
export function checkAddresses(
  host: string,
  addresses: readonly Pick<LookupAddress, 'address'>[],
  allowCidrs: readonly Cidr[],
): void {
  const reachable = ({ address }: { address: string }) => isPublic(address) || isWithin(address, allowCidrs);
  if (addresses.length === 0 || !addresses.every(reachable)) {
    throw new UrlBlockedError('address', `${host} does not lead to a public address`);
  }
}

/**
 * Whether an address is global unicast. Forms that carry an IPv4 address inside
 * (mapped, compatible, 6to4, Teredo, NAT64) are not, whatever they carry.
 */
export function isPublic(address: string): boolean {
  const parsed = parse(address);
  if (parsed === undefined || parsed.range() !== 'unicast') return false;
  // IPv6 hands out global addresses from 2000::/3 only; ipaddr.js also calls the rest of the space unicast.
  return parsed.kind() === 'ipv4' || ((parsed as ipaddr.IPv6).parts[0] ?? 0) >> 13 === 1;
}

/** Whether an address lies in one of the networks; a mapped IPv4 address is not looked into. */
export function isWithin(address: string, cidrs: readonly Cidr[]): boolean {
  const parsed = parse(address);
  if (parsed === undefined) return false;
  return cidrs.some(([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits));
}

/** Four-part decimal or full IPv6 only: what a name server or the URL parser gives. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) return ipaddr.IPv4.parse(address);
  return ipaddr.IPv6.isValid(address) ? ipaddr.IPv6.parse(address) : undefined;
}
