/** Whether anybody listens at all: known in memory, so that events cost nothing where nobody does. */
import type { Context } from '../context/index.ts';
import type { StartServices } from '../contract/index.ts';

/** What is committed within so many milliseconds shares a hint. */
const GATHER_MS = 5;

export interface Listening<T> {
  /** The notice that tells of changes. */
  changed: string;
  /** The hint that something is due. */
  hint: string;
  /** Asks who listens, as the platform. */
  load(ctx: Context): Promise<T>;
}

export class Listeners<T> {
  private readonly services: StartServices;
  private readonly listening: Listening<T>;
  private version = 0;
  private timer: NodeJS.Timeout | null = null;
  /** Null while nobody knows: then everybody may be listening, which costs a statement an event. */
  known: T | null = null;

  constructor(services: StartServices, listening: Listening<T>) {
    this.services = services;
    this.listening = listening;
    const forget = () => {
      this.known = null;
      this.version += 1;
      void this.load();
    };
    services.onNotice(listening.changed, forget);
    services.onNoticesLost(forget);
  }

  /** Tells the workers, soon, that something was committed. */
  tell(): void {
    this.timer ??= setTimeout(() => {
      this.timer = null;
      this.services.hint(this.listening.hint, '');
    }, GATHER_MS);
  }

  stop(): void {
    if (this.timer) clearTimeout(this.timer);
  }

  async load(): Promise<void> {
    const { version } = this;
    const known = await this.services.asPlatform((ctx) => this.listening.load(ctx)).catch(() => null);
    if (known !== null && version === this.version) this.known = known;
  }
}
