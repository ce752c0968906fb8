/** Requests that wait for the end of a command, with one listener for the process. */
import { type Context, defineService, type StartServices } from '#core';

export class CommandWaits {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** The number of commands with waiting requests. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when the command has ended, when notices may have been lost, on `signal`, or after `ms` milliseconds. */
  async wait(commandId: string, ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const same = this.#waiting.get(commandId) ?? new Set();
    this.#waiting.set(commandId, same.add(resolve));
    const timer = setTimeout(resolve, ms);
    const leave = () => resolve();
    signal?.addEventListener('abort', leave);
    await promise;
    signal?.removeEventListener('abort', leave);
    clearTimeout(timer);
    same.delete(resolve);
    if (same.size === 0) this.#waiting.delete(commandId);
  }

  done(commandId: string): void {
    for (const resolve of this.#waiting.get(commandId) ?? []) resolve();
  }

  all(): void {
    for (const commandId of this.#waiting.keys()) this.done(commandId);
  }
}

export const COMMAND_WAITS = defineService<CommandWaits>('agents.command-waits');

export function startWaits({ onNotice, onNoticesLost }: StartServices): CommandWaits {
  const waits = new CommandWaits();
  onNotice('device-commands.ended', (commandId) => waits.done(commandId));
  onNoticesLost(() => waits.all());
  return waits;
}

/**
 * Waits at most `ms` milliseconds, or until `signal`, for the end of a command. It may also return early, so read the state of
 * the command afterwards. Call it before the commit that queues the command, so that no end is missed, and do not keep a
 * transaction open while it waits.
 */
export const awaitCommand = (ctx: Context, commandId: string, ms: number, signal?: AbortSignal): Promise<void> =>
  ctx.services.get(COMMAND_WAITS).wait(commandId, ms, signal);
