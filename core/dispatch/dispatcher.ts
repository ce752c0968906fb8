/** Hands over what is due in a queue of a module's own, for as long as a worker process lives: claims, attempts, and results in turns. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../context/index.ts';
import type { StartServices } from '../contract/index.ts';
import { Places, type Room } from './places.ts';

/** Looks without being told: for repeats, and where a hint was lost. */
const LOOK_MS = 1_000;
/** Shortest time between two turns; results and claims gather meanwhile. */
const GATHER_MS = 10;
/** How long attempts under way may take to end when the process stops. */
const STOP_MS = 2_000;
/** And how long to say that they were given up. */
const GIVE_UP_MS = 500;

export interface Dispatch<C, R> {
  /** For the log; processes take turns by it, so that what one receiver may have at a time is counted right. */
  name: string;
  /** The hint that something is due. */
  hint: string;
  places: { most: number; each: number; receiverOf: (claim: C) => string };
  /** In one transaction of the platform role, without waiting for the disk: what a crash undoes is attempted again. */
  write(ctx: Context, results: readonly R[]): Promise<void>;
  claim(ctx: Context, room: Room): Promise<C[]>;
  /**
   * Never rejects: whatever goes wrong is the result. `signal`: the process stops and has waited for a moment; what then goes on
   * is left to its lease.
   */
  attempt(claim: C, signal: AbortSignal): Promise<R>;
  /** After results were written; nobody waits for it. */
  conclude?(results: readonly R[]): Promise<void>;
}

const NO_ROOM: Room = { free: 0, othersFree: 0, quick: [] };

/** Resolves with what stops it: attempts under way may end for a moment, then leases or results say who goes on. */
export async function startDispatcher<C, R>(
  services: StartServices,
  dispatch: Dispatch<C, R>,
): Promise<() => Promise<void>> {
  const dispatcher = new Dispatcher(services, dispatch);
  return () => dispatcher.stop();
}

class Dispatcher<C, R> {
  private readonly services: StartServices;
  private readonly dispatch: Dispatch<C, R>;
  private readonly places: Places<C>;
  private readonly givenUp = new AbortController();
  private results: R[] = [];
  private readonly underWay = new Set<Promise<void>>();
  private concluding: Promise<void> = Promise.resolve();
  private stopping = false;
  private wakeUp: () => void = () => undefined;
  private woken = false;
  private readonly running: Promise<void>;

  constructor(services: StartServices, dispatch: Dispatch<C, R>) {
    this.services = services;
    this.dispatch = dispatch;
    const { most, each, receiverOf } = dispatch.places;
    this.places = new Places(most, each, receiverOf);
    services.onNotice(dispatch.hint, () => this.wake());
    this.running = this.run();
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.wake();
    await this.running;
    await this.ended(STOP_MS);
    this.givenUp.abort();
    await this.ended(GIVE_UP_MS);
    await this.turn();
    await this.concluding;
  }

  private async ended(withinMs: number): Promise<void> {
    await Promise.race([Promise.all(this.underWay), pause(withinMs, undefined, { ref: false })]);
  }

  private wake(): void {
    this.woken = true;
    this.wakeUp();
  }

  private async run(): Promise<void> {
    while (!this.stopping) {
      const ok = await this.turn();
      if (!ok) this.woken = false;
      if (!this.woken) await this.sleep();
      await pause(GATHER_MS);
    }
  }

  private async sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, LOOK_MS);
      this.wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wakeUp = () => undefined;
  }

  /** One transaction: results in, claims out. False when the database did not take it; the results then wait. */
  private async turn(): Promise<boolean> {
    const { name, write, claim } = this.dispatch;
    const results = this.results.splice(0);
    const room = this.stopping ? NO_ROOM : this.places.room();
    this.woken = false;
    if (results.length === 0 && room.free <= 0) return true;
    try {
      const claims = await this.services.asPlatform(async (ctx) => {
        await ctx.sql(
          `select set_config('synchronous_commit', 'off', true), pg_advisory_xact_lock(hashtextextended($1, 0))`,
          [`dispatch:${name}`],
          'dispatch-turn',
        );
        if (results.length > 0) await write(ctx, results);
        return room.free > 0 ? claim(ctx, room) : [];
      });
      for (const one of claims) this.hand(one);
    } catch (error) {
      this.results.unshift(...results);
      this.warn(error, `${name}: what is due could not be taken or noted; trying again`);
      return false;
    }
    if (results.length > 0) this.conclude(results);
    return true;
  }

  private conclude(results: readonly R[]): void {
    const { name, conclude } = this.dispatch;
    if (!conclude) return;
    this.concluding = this.concluding
      .then(() => conclude(results))
      .catch((error: unknown) => this.warn(error, `${name}: what came of attempts could not be concluded`));
  }

  private warn(err: unknown, message: string): void {
    this.services.log.warn({ err }, message);
  }

  private hand(one: C): void {
    this.places.take(one);
    const attempted = this.dispatch.attempt(one, this.givenUp.signal).then((result) => {
      this.places.leave(one);
      this.results.push(result);
      this.underWay.delete(attempted);
      this.wake();
    });
    this.underWay.add(attempted);
  }
}
