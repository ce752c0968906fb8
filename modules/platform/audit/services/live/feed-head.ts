/** The newest position of the trail: read once for all streams of the process, and only while there are any. */
import { type Context, defineService } from '#core';

const EVERY_MS = 400;

type AsPlatform = <T>(run: (ctx: Context) => Promise<T>) => Promise<T>;

export class FeedHead {
  private readonly waiting = new Set<() => void>();
  private readonly asPlatform: AsPlatform;
  private timer: NodeJS.Timeout | undefined;
  private head = 0;

  constructor(asPlatform: AsPlatform) {
    this.asPlatform = asPlatform;
  }

  /** The newest settled position: everything up to it can be read. Rejects while the database is away. */
  async now(): Promise<number> {
    const { rows } = await this.asPlatform((ctx) =>
      ctx.sql<{ head: number }>('select audit_feed_head() as head', [], 'audit-feed-head'),
    );
    this.head = Math.max(this.head, rows[0]?.head ?? 0);
    return this.head;
  }

  /** Resolves with the newest position: when it is beyond `pos`, after `ms`, or when the signal aborts. */
  async beyond(pos: number, ms: number, signal: AbortSignal): Promise<number> {
    const until = Date.now() + ms;
    while (this.head <= pos && Date.now() < until && !signal.aborted) await this.turn(signal);
    return this.head;
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const go = () => {
        signal.removeEventListener('abort', go);
        this.waiting.delete(go);
        resolve();
      };
      signal.addEventListener('abort', go);
      this.waiting.add(go);
      this.timer ??= setTimeout(() => {
        // The next round retries a database that is away.
        void this.now()
          .catch(() => undefined)
          .then(() => {
            this.timer = undefined;
            this.wake();
          });
      }, EVERY_MS);
    });
  }

  private wake(): void {
    for (const go of [...this.waiting]) go();
  }
}

export const FEED = defineService<FeedHead>('audit.feed');
