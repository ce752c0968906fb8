/** Wakes the ends of transfers in this process when the other end, in any process, has written or read. */
import { type Context, defineService, provide, type StartedModule, type StartServices } from '#core';

export const MOVED_HINT = 'system-tools.moved';

export interface SignalListener {
  /** Resolves when `notify` was called since `listen`, when `signal` is aborted, or after `ms` milliseconds. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  stop(): void;
}

export class TransferSignals {
  readonly #listeners = new Map<string, Set<() => void>>();

  /** Call it before reading the state, so that no signal is missed, and always call `stop`. */
  listen(transferId: string): SignalListener {
    const { promise, resolve } = Promise.withResolvers<void>();
    const same = this.#listeners.get(transferId) ?? new Set();
    this.#listeners.set(transferId, same.add(resolve));
    return {
      async wait(ms, signal) {
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
        if (same.size === 0) this.#listeners.delete(transferId);
      },
    };
  }

  notify(transferId: string): void {
    for (const wake of this.#listeners.get(transferId) ?? []) wake();
  }
}

const SIGNALS = defineService<TransferSignals>('system-tools.signals');

export function startSignals({ onNotice }: StartServices): StartedModule {
  const signals = new TransferSignals();
  onNotice(MOVED_HINT, (transferId) => signals.notify(transferId));
  return { provide: [provide(SIGNALS, signals)] };
}

export const signalsOf = (ctx: Context): TransferSignals => ctx.services.get(SIGNALS);
