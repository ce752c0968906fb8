/** `Event`, `EventTarget`, `AbortController` and `AbortSignal`. */
import { provide } from './host-functions.ts';

class PluginEvent {
  readonly type: string;
  readonly cancelable: boolean;
  defaultPrevented = false;
  target: Target | null = null;
  stopped = false;

  constructor(type: string, { cancelable = false }: { cancelable?: boolean } = {}) {
    this.type = String(type);
    this.cancelable = cancelable;
  }

  preventDefault(): void {
    this.defaultPrevented = this.cancelable;
  }

  stopImmediatePropagation(): void {
    this.stopped = true;
  }
}

type Listener = ((event: PluginEvent) => void) | { handleEvent(event: PluginEvent): void };
interface Options {
  once?: boolean;
  signal?: Signal;
}

class Target {
  private listeners: { type: string; listener: Listener; once: boolean }[] = [];

  addEventListener(type: string, listener: Listener | null, options: Options | boolean = {}): void {
    const { once = false, signal } = typeof options === 'object' ? options : {};
    if (!listener || signal?.aborted) return;
    if (this.listeners.some((one) => one.type === type && one.listener === listener)) return;
    this.listeners.push({ type, listener, once });
    signal?.addEventListener('abort', () => this.removeEventListener(type, listener), { once: true });
  }

  removeEventListener(type: string, listener: Listener | null): void {
    this.listeners = this.listeners.filter((one) => one.type !== type || one.listener !== listener);
  }

  dispatchEvent(event: PluginEvent): boolean {
    event.target = this;
    for (const { type, listener, once } of [...this.listeners]) {
      if (type !== event.type || event.stopped) continue;
      if (once) this.removeEventListener(type, listener);
      // One listener's error keeps no other from hearing.
      try {
        if (typeof listener === 'function') listener.call(this, event);
        else listener.handleEvent(event);
      } catch (error) {
        console.error(error);
      }
    }
    return !event.defaultPrevented;
  }
}

const aborted = () => new DOMException('This operation was aborted', 'AbortError');

class Signal extends Target {
  aborted = false;
  reason: unknown = undefined;
  onabort: ((event: PluginEvent) => void) | null = null;

  throwIfAborted(): void {
    if (this.aborted) throw this.reason;
  }

  static abort(reason: unknown = aborted()): Signal {
    const signal = new Signal();
    end(signal, reason);
    return signal;
  }

  static timeout(ms: number): Signal {
    const signal = new Signal();
    setTimeout(() => end(signal, new DOMException('The operation timed out', 'TimeoutError')), ms);
    return signal;
  }

  static any(signals: Iterable<Signal>): Signal {
    const all = [...signals];
    const ended = all.find((one) => one.aborted);
    if (ended) return Signal.abort(ended.reason);
    const signal = new Signal();
    for (const one of all) one.addEventListener('abort', () => end(signal, one.reason), { once: true });
    return signal;
  }
}

function end(signal: Signal, reason: unknown): void {
  if (signal.aborted) return;
  signal.aborted = true;
  signal.reason = reason;
  const event = new PluginEvent('abort');
  try {
    signal.onabort?.(event);
  } finally {
    signal.dispatchEvent(event);
  }
}

class Controller {
  readonly signal = new Signal();

  abort(reason: unknown = aborted()): void {
    end(this.signal, reason);
  }
}

export const provideEvents = (): void =>
  provide({ Event: PluginEvent, EventTarget: Target, AbortController: Controller, AbortSignal: Signal });
