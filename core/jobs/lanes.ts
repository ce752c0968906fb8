/**
 * How far back in the queue a tenant's next job goes. The more of a tenant waits, the later its turn: jobs of one tenant
 * get a priority one lower for each 50 that wait before them, so that tenants are served in turns of 50.
 */

/** Jobs of one tenant that wait at one priority. */
export const TURN = 50;
/** Beyond it all of a tenant's jobs stand in one line; the queue's priorities are 16 bits wide. */
const LAST = 20_000;
/** How often the shared count is read while jobs are being added. */
const READ_MS = 5_000;

/** What the last snapshot counted, and how many ms ago. */
export interface Backlogs {
  ageMs: number;
  waiting: ReadonlyMap<string, number>;
}

interface Lane {
  /** Of the last snapshot. */
  counted: number;
  /** Added by this process, by second, since before that snapshot. */
  added: Map<number, number>;
}

export class Lanes {
  private readonly lanes = new Map<string, Lane>();
  private readonly read: () => Promise<Backlogs>;
  private readAt = 0;
  private countedAt = 0;

  constructor(read: () => Promise<Backlogs>) {
    this.read = read;
  }

  /** The priority of a tenant's next job, and counts it. Costs no query: what other processes add shows with the snapshots. */
  next(orgId: string): number {
    const now = Date.now();
    if (now - this.readAt > READ_MS) this.refresh(now);
    const lane = this.lanes.get(orgId) ?? { counted: 0, added: new Map<number, number>() };
    this.lanes.set(orgId, lane);
    let depth = lane.counted;
    for (const count of lane.added.values()) depth += count;
    const second = Math.floor(now / 1000);
    lane.added.set(second, (lane.added.get(second) ?? 0) + 1);
    return Math.min(LAST, Math.floor(depth / TURN));
  }

  private refresh(now: number): void {
    this.readAt = now;
    this.read().then(
      ({ ageMs, waiting }) => this.apply(Date.now() - ageMs, waiting),
      // Older counts serve as well.
      () => undefined,
    );
  }

  private apply(countedAt: number, waiting: ReadonlyMap<string, number>): void {
    if (countedAt < this.countedAt + 1000) return;
    this.countedAt = countedAt;
    for (const [orgId, lane] of this.lanes) {
      lane.counted = waiting.get(orgId) ?? 0;
      for (const second of lane.added.keys()) if ((second + 1) * 1000 < countedAt) lane.added.delete(second);
      if (lane.counted === 0 && lane.added.size === 0) this.lanes.delete(orgId);
    }
    for (const [orgId, counted] of waiting)
      if (!this.lanes.has(orgId)) this.lanes.set(orgId, { counted, added: new Map() });
  }
}
