/** Watches the main agent: starts it where nobody else does, ends one that hangs, and takes an update back that does not start. */

import type { WatchdogHeartbeat } from '#agent-protocol';
import type { PulseMark } from '../store/pulse.ts';
import { Backoff, pause, type Timing } from '../timing.ts';
import type { RecordStore, UpdateRecord } from '../update/record.ts';
import { MOST_STARTS, rollBack } from '../update/updater.ts';
import { GONE, RESTART } from './exits.ts';
import { isAlive, type Keeper } from './keeper.ts';
import type { Restarts } from './restarts.ts';

/** Failed starts after which the device has no agent but its watchdog. */
const GIVEN_UP = 5;

export interface GuardOptions {
  keeper: Keeper;
  restarts: Restarts;
  /** The agent's last sign of life. */
  pulse(): Promise<PulseMark | undefined>;
  /** False once the agent has removed itself. */
  enrolled(): Promise<boolean>;
  /** The main agent's update, while it is not confirmed. */
  record: RecordStore;
  timing: Timing;
  log: (line: string) => void;
}

export class Guard {
  readonly #options: GuardOptions;
  readonly #backoff: Backoff;
  #state: WatchdogHeartbeat['watchdogState'] = 'connecting';
  #failures = 0;
  /** The end of the agent has been counted. */
  #counted = true;
  #startedAt = 0;
  #notBefore = 0;
  #deadSince: number | undefined;
  #serverHeardAt = Number.NEGATIVE_INFINITY;
  #knownStart: string | undefined;
  #begun = false;
  /** One look or restart after the other. */
  #turn: Promise<unknown> = Promise.resolve();
  /** The version that was taken back and that the server has to hear of. */
  takenBack: string | undefined;

  constructor(options: GuardOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.timing);
  }

  get state(): WatchdogHeartbeat['watchdogState'] {
    return this.#state;
  }

  /** The server answered the watchdog: it can be reached from here. */
  serverHeard(): void {
    this.#serverHeardAt = performance.now();
  }

  /** Looks again and again until the signal aborts; false when the agent has removed itself meanwhile. */
  async watch(signal: AbortSignal): Promise<boolean> {
    const { enrolled, timing, log } = this.#options;
    while (!signal.aborted) {
      try {
        if (!(await enrolled())) return false;
        await this.#inTurn(() => this.#look());
      } catch (fault) {
        log(`The agent was not kept: ${(fault as Error).message}`);
      }
      await pause(timing.watch, signal);
    }
    return true;
  }

  /** Ends the agent and starts it; resolves when the new one gives signs of life. Rejects with a sentence. */
  async restart(signal: AbortSignal): Promise<void> {
    const { keeper, pulse, timing } = this.#options;
    const before = (await pulse())?.startedAt;
    await this.#inTurn(async () => {
      if (keeper.pid !== undefined) await keeper.stop(keeper.pid, timing.farewell);
      await this.#start();
    });
    // Meanwhile it is watched as ever: one that dies at once is started again.
    const end = performance.now() + timing.trial;
    while (!signal.aborted && performance.now() < end) {
      const mark = await pulse();
      if (mark && mark.startedAt !== before && isAlive(mark.pid)) return;
      await pause(Math.min(timing.watch, 200), signal);
    }
    throw new Error('the agent was started again and gives no sign of life');
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.#turn.then(work);
    this.#turn = mine.catch(() => undefined);
    return mine;
  }

  async #look(): Promise<void> {
    const { keeper, pulse, timing } = this.#options;
    const mark = await pulse();
    const fresh = mark && Date.now() - Date.parse(mark.at) < timing.hang && !mark.stopped && isAlive(mark.pid);
    const hangs =
      keeper.pid !== undefined && !fresh && this.#startedAt > 0 && performance.now() - this.#startedAt > timing.hang;
    if (hangs && keeper.pid !== undefined) {
      this.#options.log('The agent gives no sign of life; it is ended.');
      await keeper.stop(keeper.pid, timing.farewell);
    } else if (fresh || keeper.pid !== undefined) return this.#lives(fresh ? mark : undefined);
    await this.#died(mark);
  }

  async #lives(mark: PulseMark | undefined): Promise<void> {
    const { keeper, restarts, record, timing } = this.#options;
    this.#deadSince = undefined;
    if (!mark) return;
    if (!keeper.alone && this.#knownStart !== undefined && this.#knownStart !== mark.startedAt) await restarts.add();
    this.#knownStart = mark.startedAt;
    this.#begun = true;
    this.#state = 'monitoring';
    if (Date.now() - Date.parse(mark.startedAt) > timing.stable) {
      this.#failures = 0;
      this.#backoff.reset();
    }
    const known = await record.read();
    if (!known?.at || known.rolledBack || known.to !== mark.version || mark.heardAt !== null) return;
    const reachable = performance.now() - this.#serverHeardAt < timing.hang;
    if (reachable && Date.now() - Date.parse(known.at) > timing.unheard) await this.#takeBack(known);
  }

  async #died(mark: PulseMark | undefined): Promise<void> {
    const { keeper, record, timing, enrolled } = this.#options;
    const code = keeper.ending?.code;
    if (code === GONE || (!keeper.alone && mark?.stopped)) {
      this.#state = 'standby';
      return;
    }
    if (code === RESTART) return this.#start(false);
    this.#state = this.#failures >= GIVEN_UP ? 'failover' : 'recovering';
    if (!this.#counted) {
      this.#counted = true;
      this.#failures += 1;
      this.#notBefore = performance.now() + this.#backoff.next();
    }
    this.#deadSince ??= performance.now();
    const waited = performance.now() - this.#deadSince > timing.patience;
    const known = await record.read();
    const pending = known && !known.rolledBack;
    if (pending && (keeper.alone ? this.#failures >= MOST_STARTS : waited)) return this.#takeBack(known);
    if (keeper.alone ? performance.now() < this.#notBefore : !waited) return;
    // It may have ended because it removed itself since this look began.
    if (await enrolled()) await this.#start();
  }

  /** @param again false where the agent asked for its restart: that is no failure. */
  async #start(again = true): Promise<void> {
    const { keeper, restarts, log } = this.#options;
    if (this.#begun && again) {
      log('The agent is started again.');
      await restarts.add();
    }
    this.#begun = true;
    this.#counted = false;
    this.#deadSince = undefined;
    this.#startedAt = performance.now();
    await keeper.start();
  }

  async #takeBack(known: UpdateRecord): Promise<void> {
    const { keeper, record, timing, log } = this.#options;
    if (keeper.pid !== undefined) await keeper.stop(keeper.pid, timing.farewell);
    if (await rollBack(record, known)) {
      log(`Version ${known.to} of the agent does not start; ${known.from} is put back.`);
      this.takenBack = known.to;
    }
    this.#failures = 0;
    this.#backoff.reset();
    await this.#start();
  }
}
