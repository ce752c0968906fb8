/** Sends what is due in a queue for as long as a worker process lives: results in, claims out, attempts side by side. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Context } from '../context/index.ts';
import type { AnyDeliveryQueue, ClaimedMessage, DeliveryResult, StartServices } from '../contract/index.ts';
import { attempt } from './attempt.ts';
import { Capacity, type Room } from './capacity.ts';
import { type Gate, gateOf, type OfTenants } from './gate.ts';
import { dueHint } from './hint.ts';
import { QueueStore } from './store.ts';

/** How often the queue is read without a hint: for retries, and when a hint was lost. */
const POLL_SECONDS = 1;
/** Shortest time between two turns; results and messages gather meanwhile. */
const GATHER_MS = 10;
/** Time that attempts under way have to end when the process stops. */
const STOP_MS = 2_000;
/** Time that attempts have to end after they were aborted. */
const ABORT_MS = 500;

/** How often messages that were paused for too long are given up. */
const EXPIRE_MS = 60_000;

const NO_ROOM: Room = { free: 0, othersFree: 0, quick: [] };

export class Dispatcher {
  readonly #start: StartServices;
  readonly #queue: AnyDeliveryQueue;
  readonly #store: QueueStore;
  readonly #capacity: Capacity;
  readonly #pollMs: number;
  readonly #gate: Gate;
  /** Tenants for which the module was off in the last turn; null for all. */
  #closed: readonly string[] | null = [];
  /** When paused messages are next looked through for those that have waited too long. */
  #expireAt = 0;
  readonly #aborted = new AbortController();
  #results: DeliveryResult[] = [];
  readonly #underWay = new Set<Promise<void>>();
  #concluding: Promise<void> = Promise.resolve();
  #stopping = false;
  #wakeUp: () => void = () => undefined;
  #woken = false;
  readonly #running: Promise<void>;

  /** @param module the name of the module that declares the queue */
  constructor(start: StartServices, module: string, queue: AnyDeliveryQueue) {
    const { perProcess, perPartition, pollSeconds = POLL_SECONDS } = queue.limits;
    this.#start = start;
    this.#queue = queue;
    this.#gate = gateOf(start.services.modules, module);
    this.#store = new QueueStore(queue, this.#gate);
    this.#capacity = new Capacity(perProcess(start.services.config), perPartition);
    this.#pollMs = pollSeconds * 1_000;
    start.onNotice(dueHint(queue.name), () => this.#wake());
    start.onModulesChanged(() => {
      this.#expireAt = 0;
      this.#wake();
    });
    this.#running = this.#run();
  }

  /** Attempts under way may end for a moment, then they are aborted; the lease of what is left ends by itself. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.#running;
    await this.#ended(STOP_MS);
    this.#aborted.abort();
    await this.#ended(ABORT_MS);
    await this.#turn();
    await this.#concluding;
  }

  async #ended(withinMs: number): Promise<void> {
    await Promise.race([Promise.all(this.#underWay), pause(withinMs, undefined, { ref: false })]);
  }

  #wake(): void {
    this.#woken = true;
    this.#wakeUp();
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const ok = await this.#turn();
      if (!ok) this.#woken = false;
      if (!this.#woken) await this.#sleep();
      await pause(GATHER_MS);
    }
  }

  async #sleep(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.#pollMs);
      this.#wakeUp = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#wakeUp = () => undefined;
  }

  /** One transaction: results in, claims out. False when it failed; the results are then kept for the next turn. */
  async #turn(): Promise<boolean> {
    const results = this.#results.splice(0);
    const room = this.#stopping ? NO_ROOM : this.#capacity.room();
    this.#woken = false;
    if (results.length === 0 && room.free <= 0) return true;
    try {
      const claimed = await this.#start.asPlatform(async (ctx) => {
        await this.#store.takeTurn(ctx);
        if (results.length > 0) await this.#store.write(ctx, results);
        await this.#expire(ctx);
        return room.free > 0 ? this.#store.claim(ctx, room) : { send: [], more: false };
      });
      for (const message of claimed.send) this.#send(message);
      if (claimed.more) this.#woken = true;
    } catch (error) {
      this.#results.unshift(...results);
      this.#warn(error, 'claiming messages or writing results failed; it is tried again');
      return false;
    }
    if (results.length > 0) this.#conclude(results);
    return true;
  }

  /** Before messages of tenants that have the module again are claimed, those that waited too long are given up. */
  async #expire(ctx: Context): Promise<void> {
    const now = performance.now();
    if (this.#stopping || now < this.#expireAt || !this.#gate.known()) return;
    const closed = this.#gate.closed();
    await this.#store.expire(ctx, closed === null || this.#closed === null ? null : [...this.#closed, ...closed]);
    this.#closed = closed;
    this.#expireAt = now + EXPIRE_MS;
  }

  #conclude(results: readonly DeliveryResult[]): void {
    const { afterResults } = this.#queue;
    if (!afterResults) return;
    this.#concluding = this.#concluding
      .then(() => afterResults(this.#start, results))
      .catch((error: unknown) => this.#warn(error, 'what follows from results failed'));
  }

  #warn(err: unknown, message: string): void {
    this.#start.log.warn({ err, queue: this.#queue.name }, message);
  }

  #send(message: ClaimedMessage & OfTenants): void {
    this.#capacity.take(message);
    const attempted = attempt(this.#start, this.#queue, this.#gate, message, this.#aborted.signal).then((result) => {
      this.#capacity.leave(message);
      this.#results.push(result);
      this.#underWay.delete(attempted);
      this.#wake();
    });
    this.#underWay.add(attempted);
  }
}
