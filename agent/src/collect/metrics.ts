/** Samples of load: counters are read twice and turned into percentages and rates. */
import { readdir } from 'node:fs/promises';
import os from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import type { Metrics } from '#agent-protocol';
import { fileText, outputOf, round } from './ask.ts';
import { sizesOf } from './disks.ts';
import { macosAvailableBytes, macosLoad } from './macos/load.ts';
import { windowsLoad } from './windows/load.ts';

/** Readings of counters that only grow; `at` in milliseconds of a monotonic clock, the rest in ticks and bytes. */
export interface Counters {
  at: number;
  cpu?: { busy: number; total: number };
  network?: { in: number; out: number };
  disk?: { read: number; written: number };
  /** Not a counter; where it comes with the others. */
  processCount?: number;
}

/** Between the two readings of the very first sample. */
const FIRST_GAP_MS = 250;

/** A function that returns the load since its previous call; the first call measures a quarter of a second. */
export function metricsSampler(): () => Promise<Metrics> {
  let previous: Counters | undefined;
  return async () => {
    if (!previous) {
      previous = await readCounters();
      await wait(FIRST_GAP_MS);
    }
    const current = await readCounters();
    const rates = ratesBetween(previous, current);
    previous = current;
    const disk = await sizesOf(process.platform === 'win32' ? 'C:\\' : '/');
    const used = os.totalmem() - (await availableBytes());
    return {
      ...rates,
      ramPercent: round((100 * used) / os.totalmem()),
      ramUsedMb: Math.round(used / 1024 ** 2),
      ...(disk && { diskPercent: disk.usedPercent, diskUsedGb: disk.usedGb }),
      ...(current.processCount === undefined ? await processCount() : { processCount: current.processCount }),
    };
  };
}

/** Percentages and rates between two readings; a counter that fell (restart, adapter gone) gives 0. */
export function ratesBetween(before: Counters, after: Counters): Metrics {
  const seconds = Math.max(0.001, (after.at - before.at) / 1000);
  const rate = (from: number, to: number): number => Math.max(0, Math.round((to - from) / seconds));
  const metrics: Metrics = {};
  if (before.cpu && after.cpu) {
    const total = after.cpu.total - before.cpu.total;
    const busy = after.cpu.busy - before.cpu.busy;
    metrics.cpuPercent = total > 0 ? round(Math.min(100, Math.max(0, (100 * busy) / total))) : 0;
  }
  if (before.network && after.network) {
    metrics.networkInBps = rate(before.network.in, after.network.in);
    metrics.networkOutBps = rate(before.network.out, after.network.out);
  }
  if (before.disk && after.disk) {
    metrics.diskReadBps = rate(before.disk.read, after.disk.read);
    metrics.diskWriteBps = rate(before.disk.written, after.disk.written);
  }
  return metrics;
}

/** The first line of /proc/stat in ticks; waiting for disks counts as idle, guest time is already in user time. */
export function parseStat(text: string): Counters['cpu'] {
  const fields = /^cpu\s+(.+)$/m.exec(text)?.[1]?.trim().split(/\s+/).slice(0, 8).map(Number);
  if (!fields || fields.length < 4 || fields.some(Number.isNaN)) return undefined;
  const total = fields.reduce((sum, ticks) => sum + ticks, 0);
  return { total, busy: total - (fields[3] ?? 0) - (fields[4] ?? 0) };
}

/** Bytes of all adapters of /proc/net/dev but the loopback and those that only repeat others' traffic. */
export function parseNetDev(text: string): Counters['network'] {
  const sum = { in: 0, out: 0 };
  for (const [, name = '', numbers = ''] of text.matchAll(/^\s*([^\s:]+):\s*(.+)$/gm)) {
    if (/^(lo|ifb\d*|veth.*|docker\d+|br-.*|virbr.*)$/.test(name)) continue;
    const fields = numbers.split(/\s+/).map(Number);
    sum.in += fields[0] ?? 0;
    sum.out += fields[8] ?? 0;
  }
  return sum;
}

/** Bytes of all whole disks of /proc/diskstats, which counts in 512-byte sectors. */
export function parseDiskStats(text: string): Counters['disk'] {
  const sum = { read: 0, written: 0 };
  for (const line of text.split('\n')) {
    const fields = line.trim().split(/\s+/);
    if (!/^([shv]d[a-z]+|xvd[a-z]+|nvme\d+n\d+|mmcblk\d+)$/.test(fields[2] ?? '')) continue;
    sum.read += Number(fields[5]) * 512;
    sum.written += Number(fields[9]) * 512;
  }
  return sum;
}

async function readCounters(): Promise<Counters> {
  const at = performance.now();
  if (process.platform === 'linux') {
    return {
      at,
      cpu: parseStat((await fileText('/proc/stat')) ?? ''),
      network: parseNetDev((await fileText('/proc/net/dev')) ?? ''),
      disk: parseDiskStats((await fileText('/proc/diskstats')) ?? ''),
    };
  }
  return { at, cpu: cpuTimes(), ...(process.platform === 'darwin' ? await macosLoad() : await windowsLoad()) };
}

function cpuTimes(): Counters['cpu'] {
  const sum = { busy: 0, total: 0 };
  for (const { times } of os.cpus()) {
    const total = times.user + times.nice + times.sys + times.irq + times.idle;
    sum.total += total;
    sum.busy += total - times.idle;
  }
  return sum;
}

/** Memory programs could still get: free memory alone would count the file cache as used. */
async function availableBytes(): Promise<number> {
  if (process.platform === 'darwin') return (await macosAvailableBytes()) ?? os.freemem();
  if (process.platform !== 'linux') return os.freemem();
  const kib = /^MemAvailable:\s+(\d+) kB$/m.exec((await fileText('/proc/meminfo')) ?? '')?.[1];
  return kib === undefined ? os.freemem() : Number(kib) * 1024;
}

async function processCount(): Promise<Pick<Metrics, 'processCount'>> {
  if (process.platform === 'linux') {
    return { processCount: (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).length };
  }
  if (process.platform !== 'darwin') return {};
  const list = await outputOf('ps', '-A', '-o', 'pid=');
  return list === undefined ? {} : { processCount: list.trim().split('\n').length };
}
