/** Lets calls of plugins through to the server: so many at a time, so much in a second, and each partner in turn. */
import { Bucket } from './bucket.ts';

/** Calls that the server works on at a time, of all plugins and of one. Calls of other servers wait elsewhere and do not count. */
const AT_A_TIME = 8;
const OF_ONE = 4;
const OUTSIDE_OF_ONE = 8;
const LOOK_MS = 20;

const MB = 1_048_576;
/** Of calls, their bytes, and the milliseconds that the server works on them. */
type Amounts = Readonly<Record<'calls' | 'bytes' | 'ms', readonly [inSecond: number, atOnce: number]>>;
const OF_PLUGIN: Amounts = { calls: [100, 400], bytes: [MB, 4 * MB], ms: [500, 1_000] };
const OF_PARTNER: Amounts = { calls: [600, 1_200], bytes: [4 * MB, 8 * MB], ms: [2_000, 4_000] };

class Share {
  inFlight = 0;
  outside = 0;
  private readonly calls: Bucket;
  private readonly bytes: Bucket;
  private readonly ms: Bucket;

  constructor({ calls, bytes, ms }: Amounts) {
    this.calls = new Bucket(...calls);
    this.bytes = new Bucket(...bytes);
    this.ms = new Bucket(...ms);
  }

  get isOpen(): boolean {
    return this.calls.isOpen && this.bytes.isOpen && this.ms.isOpen;
  }

  take(bytes: number): void {
    this.calls.take(1);
    this.bytes.take(bytes);
  }

  spend(ms: number): void {
    this.ms.take(ms);
  }
}

export interface Passing {
  partner: string;
  plugin: string;
  bytes: number;
  /** It waits for another server. */
  outside: boolean;
}
interface Waiting extends Passing {
  enter(leave: () => void): void;
}

export class Turnstile {
  private readonly shares = new Map<string, Share>();
  /** By partner; the one whose turn it is first. */
  private readonly waiting = new Map<string, Waiting[]>();
  private inFlight = 0;
  private timer: NodeJS.Timeout | null = null;

  /** Resolves when it is its turn, with what is called when the server has answered. */
  enter(passing: Passing): Promise<() => void> {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    const list = this.waiting.get(passing.partner) ?? [];
    list.push({ ...passing, enter: resolve });
    this.waiting.set(passing.partner, list);
    this.look();
    return promise;
  }

  /** Its process has ended: what waits goes on at once, to find that out. */
  forget(plugin: string): void {
    this.shares.delete(`plugin ${plugin}`);
    for (const [partner, list] of this.waiting) {
      const rest = list.filter((one) => one.plugin !== plugin);
      for (const one of list) if (one.plugin === plugin) one.enter(() => undefined);
      if (rest.length > 0) this.waiting.set(partner, rest);
      else this.waiting.delete(partner);
    }
  }

  private share(key: string, of: Amounts): Share {
    const known = this.shares.get(key);
    if (known) return known;
    const made = new Share(of);
    this.shares.set(key, made);
    return made;
  }

  private look(): void {
    for (let passed = true; passed; ) {
      passed = false;
      for (const [partner, list] of [...this.waiting]) {
        const at = this.share(`partner ${partner}`, OF_PARTNER).isOpen
          ? list.findIndex((one) => this.mayPass(one))
          : -1;
        const [next] = at < 0 ? [] : list.splice(at, 1);
        if (!next) continue;
        // Behind the others.
        this.waiting.delete(partner);
        if (list.length > 0) this.waiting.set(partner, list);
        this.pass(next);
        passed = true;
      }
    }
    if (this.waiting.size === 0 || this.timer) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      this.look();
    }, LOOK_MS).unref();
  }

  private mayPass({ plugin, outside }: Waiting): boolean {
    const share = this.share(`plugin ${plugin}`, OF_PLUGIN);
    if (!share.isOpen) return false;
    return outside ? share.outside < OUTSIDE_OF_ONE : share.inFlight < OF_ONE && this.inFlight < AT_A_TIME;
  }

  private pass({ partner, plugin, bytes, outside, enter }: Waiting): void {
    const shares = [this.share(`plugin ${plugin}`, OF_PLUGIN), this.share(`partner ${partner}`, OF_PARTNER)];
    const began = performance.now();
    const count = (by: 1 | -1) => {
      if (!outside) this.inFlight += by;
      for (const share of shares) {
        if (outside) share.outside += by;
        else share.inFlight += by;
      }
    };
    count(1);
    for (const share of shares) share.take(bytes);
    enter(() => {
      count(-1);
      if (!outside) for (const share of shares) share.spend(performance.now() - began);
      this.look();
    });
  }
}
