/** The network adapters with their addresses, and which of them leads out. */
import os from 'node:os';
import type { NetworkAdapter } from '#agent-protocol';
import { fileText, outputOf } from './ask.ts';
import { windowsPrimaryName } from './windows/inventory.ts';

/** The most adapters one snapshot may carry. */
const LIMIT = 100;

/** Adapters that are up and not the loopback. */
export async function collectNetwork(): Promise<NetworkAdapter[]> {
  return adaptersOf(os.networkInterfaces(), await primaryName());
}

/** Turns Node's list into adapters; without a known default route the first with IPv4 counts as primary. */
export function adaptersOf(
  interfaces: ReturnType<typeof os.networkInterfaces>,
  primary: string | undefined,
): NetworkAdapter[] {
  const adapters: NetworkAdapter[] = [];
  for (const [name, addresses = []] of Object.entries(interfaces)) {
    const outward = addresses.filter(({ internal }) => !internal);
    if (outward.length === 0) continue;
    const mac = outward[0]?.mac;
    const of = (family: string): string[] =>
      outward.filter((address) => address.family === family).map(({ address }) => address);
    adapters.push({
      name,
      ...(mac && mac !== '00:00:00:00:00:00' && { mac }),
      ipv4: of('IPv4'),
      ipv6: of('IPv6'),
      isPrimary: name === primary,
    });
  }
  const first = adapters.find(({ ipv4 }) => ipv4.length > 0) ?? adapters[0];
  if (first && !adapters.some(({ isPrimary }) => isPrimary)) first.isPrimary = true;
  return adapters.slice(0, LIMIT);
}

/** The interface of the default route in /proc/net/route: destination and mask are zero. */
export function parseRoutes(text: string): string | undefined {
  const rows = text.split('\n').map((line) => line.trim().split(/\s+/));
  return rows.find((row) => row[1] === '00000000' && row[7] === '00000000')?.[0];
}

async function primaryName(): Promise<string | undefined> {
  if (process.platform === 'linux') return parseRoutes((await fileText('/proc/net/route')) ?? '');
  if (process.platform === 'darwin') {
    return (await outputOf('route', '-n', 'get', 'default'))?.match(/interface: (\S+)/)?.[1];
  }
  return process.platform === 'win32' ? windowsPrimaryName() : undefined;
}
