/** The mounted file systems and how full they are. */
import { statfs } from 'node:fs/promises';
import type { DiskUsage } from '#agent-protocol';
import { fileText, outputOf, round } from './ask.ts';
import { windowsDisks } from './windows/inventory.ts';

const GB = 1024 ** 3;
const LIMIT = 100;
/** Local file systems. Network ones are left out: asking a dead server blocks without end. */
const LOCAL = /^(ext[234]|xfs|btrfs|zfs|f2fs|jfs|reiserfs|bcachefs|vfat|exfat|ntfs3?|fuseblk|hfsplus|apfs|overlay)$/;

export interface Mount {
  device: string;
  mountPoint: string;
  fsType: string;
}

/** File systems with their sizes; those that cannot be asked are left out. */
export async function collectDisks(): Promise<DiskUsage[]> {
  if (process.platform === 'win32') return windowsDisks();
  const mounts =
    process.platform === 'linux'
      ? parseMounts((await fileText('/proc/self/mounts')) ?? '')
      : parseMacMounts((await outputOf('mount')) ?? '');
  const disks = await Promise.all(mounts.slice(0, LIMIT).map(usageOf));
  return disks.filter((disk) => disk !== undefined);
}

/** Local file systems of /proc/mounts, each device once; an overlay only where it is the root. */
export function parseMounts(text: string): Mount[] {
  const mounts = new Map<string, Mount>();
  for (const line of text.split('\n')) {
    const [device = '', path = '', fsType = ''] = line.split(' ');
    const mountPoint = path.replaceAll(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (!LOCAL.test(fsType) || (fsType === 'overlay' && mountPoint !== '/')) continue;
    if (device.startsWith('/dev/loop') || mounts.has(device)) continue;
    mounts.set(device, { device, mountPoint, fsType });
  }
  return [...mounts.values()];
}

/** Local volumes that `mount` of macOS lists; the system's own helper volumes are left out. */
export function parseMacMounts(text: string): Mount[] {
  return [...text.matchAll(/^(\/dev\/\S+) on (.+) \((\w+),/gm)].flatMap(([, device, mountPoint, fsType]) =>
    device && mountPoint && fsType && LOCAL.test(fsType) && !mountPoint.startsWith('/System/Volumes/')
      ? [{ device, mountPoint, fsType }]
      : [],
  );
}

/** Sizes of the file system at a path: GiB and per cent of what unprivileged users can fill, as `df` counts. */
export async function sizesOf(path: string): Promise<Omit<DiskUsage, keyof Mount> | undefined> {
  const { bsize, blocks, bfree, bavail } = await statfs(path).catch(() => ({
    bsize: 0,
    blocks: 0,
    bfree: 0,
    bavail: 0,
  }));
  if (blocks === 0) return undefined;
  const used = blocks - bfree;
  return {
    totalGb: round((blocks * bsize) / GB),
    usedGb: round((used * bsize) / GB),
    freeGb: round((bavail * bsize) / GB),
    usedPercent: round((100 * used) / Math.max(1, used + bavail)),
  };
}

async function usageOf(mount: Mount): Promise<DiskUsage | undefined> {
  const sizes = await sizesOf(mount.mountPoint);
  return sizes && { ...mount, ...sizes };
}
