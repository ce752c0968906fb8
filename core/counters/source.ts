/** The source that an address is counted as. */
import ipaddr from 'ipaddr.js';

const NETWORK_GROUPS = 4;

/**
 * An IPv4 address stands for itself, an IPv6 address for its /64: a subscriber has at least that many addresses, so that
 * counting single ones would not limit a caller who changes them. What is no address stands for itself, too.
 */
export function sourceOf(address: string | null): string {
  if (address === null) return 'unknown';
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, NETWORK_GROUPS).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}
