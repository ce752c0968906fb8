/** The source that an address is counted as. */
import { isIP } from 'node:net';

const GROUPS = 8;
const NETWORK_GROUPS = 4;

/**
 * An IPv4 address stands for itself, an IPv6 address for its /64: a subscriber has at least that many addresses, so that
 * counting single ones would not limit a caller who changes them.
 */
export function sourceOf(ip: string | null): string {
  if (ip === null) return 'unknown';
  if (isIP(ip) !== 6) return ip;
  const [left = [], right] = (ip.split('%')[0] ?? '').split('::').map((part) => (part === '' ? [] : part.split(':')));
  // An IPv4 address at the end stands for two groups.
  const written = [...left, ...(right ?? [])].reduce((sum, group) => sum + (group.includes('.') ? 2 : 1), 0);
  const groups = [...left, ...Array<string>(right ? GROUPS - written : 0).fill('0'), ...(right ?? [])];
  const network = groups.slice(0, NETWORK_GROUPS).map((group) => Number.parseInt(group, 16).toString(16));
  return `${network.join(':')}::/64`;
}
