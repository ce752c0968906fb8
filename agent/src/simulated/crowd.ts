/** Enrolls simulated devices and keeps them running. */
import { type Call, RefusedError, UnreachableError } from '../link/client.ts';
import { enroll, enrollmentFault } from '../link/enrollment.ts';
import type { OpenSocket } from '../link/uplink.ts';
import { runAgent } from '../loop.ts';
import { memoryJournal } from '../store/journal.ts';
import { memoryState } from '../store/state.ts';
import { Backoff, pause, type Timing } from '../timing.ts';
import { simulatedHandlers } from './handlers.ts';
import { simulatedMachine } from './machine.ts';

export interface CrowdOptions {
  call: Call;
  server: string;
  key: string;
  secret?: string;
  devices: number;
  intervalSeconds?: number;
  timing: Timing;
  signal: AbortSignal;
  log: (line: string) => void;
  /** How each device opens its socket; absent where all of them poll. */
  openSocket?: () => OpenSocket;
}

/** How many enroll at the same time. */
const LANES = 4;
/** Devices that all start at the same moment would send heartbeats in step for a while. */
const SPREAD_MS = 3_000;

export class Crowd {
  readonly #options: CrowdOptions;
  readonly #agents: Promise<void>[] = [];
  #next = 0;
  #running = 0;
  #fault: string | undefined;

  constructor(options: CrowdOptions) {
    this.#options = options;
  }

  /** Devices that run at this moment. */
  get running(): number {
    return this.#running;
  }

  /** Enrolls until all devices are enrolled or the server rejects one permanently; returns that error as a sentence. */
  async gather(): Promise<string | undefined> {
    await Promise.all(Array.from({ length: Math.min(LANES, this.#options.devices) }, () => this.#lane()));
    return this.#fault;
  }

  /** Resolves when every device has stopped. */
  async ended(): Promise<void> {
    await Promise.all(this.#agents);
  }

  async #lane(): Promise<void> {
    const { devices, signal, timing } = this.#options;
    const backoff = new Backoff(timing);
    while (this.#next < devices && !this.#fault && !signal.aborted) {
      this.#next += 1;
      while (!(await this.#add(backoff)) && !this.#fault && !signal.aborted);
    }
  }

  /** True when one more device runs; false after a wait when another attempt makes sense. */
  async #add(backoff: Backoff): Promise<boolean> {
    const { call, server, key, secret, signal, log } = this.#options;
    const machine = simulatedMachine(crypto.randomUUID());
    try {
      const state = await enroll(call, machine, { server, key, secret });
      backoff.reset();
      this.#running += 1;
      this.#agents.push(
        this.#live(machine, state)
          .catch((fault) => log(`A device ended: ${String(fault)}`))
          .finally(() => {
            this.#running -= 1;
          }),
      );
      return true;
    } catch (fault) {
      const busy = fault instanceof RefusedError && (fault.status === 429 || fault.status >= 500);
      // A server that answered before may answer again; one that never did is a wrong address.
      if (!busy && !(fault instanceof UnreachableError && this.#running > 0)) {
        if (!signal.aborted) this.#fault ??= enrollmentFault(fault);
        return false;
      }
      const wait = backoff.next(fault instanceof RefusedError ? fault.retryAfterMs : 0);
      log(`${enrollmentFault(fault)} Waiting ${Math.ceil(wait / 1000)} s with ${this.#running} devices enrolled.`);
      await pause(wait, signal);
      return false;
    }
  }

  async #live(machine: ReturnType<typeof simulatedMachine>, state: Awaited<ReturnType<typeof enroll>>): Promise<void> {
    const { call, timing, signal, intervalSeconds, openSocket } = this.#options;
    const { osType, hostname } = await machine.identity();
    await pause(Math.random() * SPREAD_MS, signal);
    await runAgent({
      call,
      machine,
      timing,
      signal,
      intervalSeconds,
      ...(openSocket && { openSocket: openSocket() }),
      store: memoryState(state),
      journalStore: memoryJournal(),
      handlers: simulatedHandlers(osType, hostname),
      // The line of rates tells about the crowd; what each of it says would drown it.
      log: () => undefined,
      // The handlers only pretend, so power commands do no harm.
      allowPower: true,
    });
  }
}
