/** Who listens to events, kept in memory: events that have no listener cost no statement. */
import type { Context } from '../context/index.ts';
import type { StartServices } from '../contract/index.ts';
import { dueHint } from './hint.ts';

/** Commits within so many milliseconds share one hint. */
const GATHER_MS = 5;

export interface ListenersOptions<T> {
  /** The notice of changes to the listeners. */
  changed: string;
  /** The delivery queue that their messages go to. */
  queue: string;
  /** Reads the listeners, on the platform's role. */
  load(ctx: Context): Promise<T>;
}

export class Listeners<T> {
  readonly #start: StartServices;
  readonly #options: ListenersOptions<T>;
  #version = 0;
  #timer: NodeJS.Timeout | null = null;
  #known: T | null = null;

  constructor(start: StartServices, options: ListenersOptions<T>) {
    this.#start = start;
    this.#options = options;
    const forget = () => {
      this.#known = null;
      this.#version += 1;
      void this.load();
    };
    start.onNotice(options.changed, forget);
    start.onNoticesLost(forget);
  }

  /** Null until they are read again after a change: anyone may then be listening. */
  get known(): T | null {
    return this.#known;
  }

  /** Sends, soon, the hint that messages are due. Call it after the commit. */
  announce(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#start.hint(dueHint(this.#options.queue), '');
    }, GATHER_MS);
  }

  stop(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  async load(): Promise<void> {
    const version = this.#version;
    const known = await this.#start.asPlatform((ctx) => this.#options.load(ctx)).catch(() => null);
    if (known !== null && version === this.#version) this.#known = known;
  }
}
