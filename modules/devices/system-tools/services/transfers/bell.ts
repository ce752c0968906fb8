/** Tells the two ends of a transfer in this process that the other, wherever it is, has moved something. */
import { type Context, defineService, provide, type StartedModule, type StartServices } from '#core';

export const MOVED_HINT = 'system-tools.moved';

export interface Ear {
  /** Resolves when the bell has rung since listening began, `signal` is aborted, or after so many milliseconds. */
  heard(ms: number, signal: AbortSignal): Promise<void>;
  stop(): void;
}

export class Bell {
  readonly #ears = new Map<string, Set<() => void>>();

  /** Begin to listen before looking, so that nothing goes by in between; always `stop`. */
  listen(transferId: string): Ear {
    const { promise, resolve } = Promise.withResolvers<void>();
    const same = this.#ears.get(transferId) ?? new Set();
    this.#ears.set(transferId, same.add(resolve));
    return {
      async heard(ms, signal) {
        if (signal.aborted) return;
        const late = setTimeout(resolve, ms);
        const leave = () => resolve();
        signal.addEventListener('abort', leave);
        await promise;
        clearTimeout(late);
        signal.removeEventListener('abort', leave);
      },
      stop: () => {
        resolve();
        same.delete(resolve);
        if (same.size === 0) this.#ears.delete(transferId);
      },
    };
  }

  ring(transferId: string): void {
    for (const wake of this.#ears.get(transferId) ?? []) wake();
  }
}

const BELL = defineService<Bell>('system-tools.bell');

export function startBell({ onNotice }: StartServices): StartedModule {
  const bell = new Bell();
  onNotice(MOVED_HINT, (transferId) => bell.ring(transferId));
  return { provide: [provide(BELL, bell)] };
}

export const bellOf = (ctx: Context): Bell => ctx.services.get(BELL);
