/** The caller's address: proxies' headers count only where the operator trusts them. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

const HEADERS = ['cf-connecting-ip', 'x-forwarded-for', 'x-real-ip'];

/** @returns IPv4 or IPv6 text; an IPv4 address mapped into IPv6 is given as IPv4. */
export function clientAddress(
  headers: Record<string, string | string[] | undefined>,
  socketAddress: string,
  trustProxy: boolean,
): string {
  if (trustProxy) {
    for (const name of HEADERS) {
      const value = headers[name];
      const first = (Array.isArray(value) ? value[0] : value)?.split(',')[0]?.trim();
      if (first && isIP(first)) return plain(first);
    }
  }
  return plain(socketAddress);
}

function plain(address: string): string {
  return address.startsWith('::ffff:') && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/** What counts as one source: an IPv4 address, or the /64 that an IPv6 subscriber is given. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}
