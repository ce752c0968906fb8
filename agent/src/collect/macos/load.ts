/** Counters of macOS: memory that programs could get, and bytes of network and disks. */
import { outputOf } from '../ask.ts';

export interface MacLoad {
  network?: { in: number; out: number };
  disk?: { read: number; written: number };
}

export async function macosLoad(): Promise<MacLoad> {
  const [network, disk] = await Promise.all([
    outputOf('netstat', '-ibn'),
    outputOf('ioreg', '-c', 'IOBlockStorageDriver', '-r', '-w', '0', '-d', '1'),
  ]);
  return { ...(network && { network: parseNetstat(network) }), ...(disk && { disk: parseBlockStorage(disk) }) };
}

/** Bytes in and out of `netstat -ibn`, one row per adapter (the link row). */
export function parseNetstat(text: string): { in: number; out: number } {
  const sum = { in: 0, out: 0 };
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (!fields[2]?.startsWith('<Link#') || fields[0]?.startsWith('lo')) continue;
    // Counted from the end: an adapter without a hardware address has one column less.
    sum.in += Number(fields.at(-5)) || 0;
    sum.out += Number(fields.at(-2)) || 0;
  }
  return sum;
}

/** Sums over the `Statistics` of `ioreg -c IOBlockStorageDriver`. */
export function parseBlockStorage(text: string): { read: number; written: number } {
  const sum = (name: string): number =>
    [...text.matchAll(new RegExp(`"Bytes \\(${name}\\)"=(\\d+)`, 'g'))].reduce(
      (all, [, bytes]) => all + Number(bytes),
      0,
    );
  return { read: sum('Read'), written: sum('Write') };
}

/** Bytes that programs could still get; undefined when `vm_stat` cannot be asked. */
export async function macosAvailableBytes(): Promise<number | undefined> {
  return parseVmStat((await outputOf('vm_stat')) ?? '');
}

/** Free, speculative and inactive pages of `vm_stat`: the last two are caches that macOS gives up at once. */
export function parseVmStat(text: string): number | undefined {
  const size = Number(/page size of (\d+) bytes/.exec(text)?.[1]);
  const pages = ['free', 'speculative', 'inactive'].map((kind) =>
    Number(new RegExp(`^Pages ${kind}:\\s+(\\d+)\\.`, 'm').exec(text)?.[1]),
  );
  const bytes = pages.reduce((sum, count) => sum + count, 0) * size;
  return Number.isFinite(bytes) ? bytes : undefined;
}
