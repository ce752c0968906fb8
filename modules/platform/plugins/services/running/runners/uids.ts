/** User ids for the processes of plugins: each has one that no other process of a plugin has at the same time. */
import { readFileSync } from 'node:fs';

/** Above those that people, services and containers of systemd get. */
const FIRST = 0x70000000;
const SHARE = 1_024;
const SHARES = 65_536;
/** Where this process may use few user ids only, as in a container. */
const LOW_FIRST = 61_000;
const LOW_SHARES = 4;

/** Whether the ids from `first` on are there in this user namespace. */
function isMapped(first: number): boolean {
  try {
    const lines = readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n');
    return lines.some((line) => {
      const [inside = 0, , length = 0] = line.trim().split(/\s+/).map(Number);
      return first >= inside && first + SHARE * SHARES <= inside + length;
    });
  } catch {
    return false;
  }
}

export class Uids {
  private readonly first: number;
  private readonly taken = new Set<number>();

  /** @param share differs between the servers of one machine: the process id */
  constructor(share = process.pid) {
    this.first = isMapped(FIRST) ? FIRST + (share % SHARES) * SHARE : LOW_FIRST + (share % LOW_SHARES) * SHARE;
  }

  /** Throws where all are taken. */
  take(): number {
    for (let uid = this.first; uid < this.first + SHARE; uid++) {
      if (this.taken.has(uid)) continue;
      this.taken.add(uid);
      return uid;
    }
    throw new Error('All user ids for plugins are taken');
  }

  free(uid: number): void {
    this.taken.delete(uid);
  }
}
