/**
 * What code of a plugin finds as globals while it runs in the test's process: the harness's clock, its log as `console`, and
 * none of what the server takes away. All other code in the process keeps what it has.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';
import { consoleOver, GONE_GLOBALS, type PluginContext } from '@quartermaster/plugin-sdk/host';
import type { FakeClock, Timer } from './fake-clock.ts';

interface Inside {
  clock: FakeClock;
  ctx: PluginContext;
}
const inside = new AsyncLocalStorage<Inside>();
/** What `setTimeout` gave: a number, as in browsers, with what Node's have. */
class Handle {
  timer: Timer | undefined;
  ref = () => this;
  unref = () => this;
  hasRef = () => true;
  refresh = () => this;
}
let installed = false;

/** Runs code of a plugin. */
export function asPlugin<T>(one: Inside, run: () => T): T {
  install();
  return inside.run(one, run);
}

/** Runs code of the test, such as an answer to a request, that was called from the plugin's. */
export const asTest = <T>(run: () => T): T => inside.exit(run);

function install(): void {
  if (installed) return;
  installed = true;
  replace('Date', dateOver(Date));
  replace(
    'setTimeout',
    withOriginal(globalThis.setTimeout, (clock) => timeoutsOf(clock, false)),
  );
  replace(
    'setInterval',
    withOriginal(globalThis.setInterval, (clock) => timeoutsOf(clock, true)),
  );
  for (const name of ['clearTimeout', 'clearInterval'] as const) {
    replace(
      name,
      withOriginal(globalThis[name], (clock) => (handle: unknown) => {
        if (handle instanceof Handle) clock.clear(handle.timer);
      }),
    );
  }
  promises.setTimeout = withOriginal(promises.setTimeout, waitsOf) as typeof promises.setTimeout;
  syncBuiltinESMExports();
  hide('console', ({ ctx }) => consoleOver(() => ctx.log));
  for (const name of GONE_GLOBALS) if (name in globalThis) hide(name, () => undefined);
}

function replace(name: keyof typeof globalThis, value: unknown): void {
  Reflect.defineProperty(globalThis, name, { value, configurable: true, writable: true });
}

/** What others find stays what it is, and can still be written. */
function hide(name: string, shown: (one: Inside) => unknown): void {
  let real: unknown = Reflect.get(globalThis, name);
  Reflect.defineProperty(globalThis, name, {
    configurable: true,
    get: () => {
      const one = inside.getStore();
      return one ? shown(one) : real;
    },
    set: (value: unknown) => {
      real = value;
    },
  });
}

type AnyFunction = (...args: never[]) => unknown;

/** The function of the plugin's clock inside, and the real one everywhere else. */
function withOriginal(real: AnyFunction, fake: (clock: FakeClock) => AnyFunction): AnyFunction {
  const chosen = (...args: never[]) => {
    const one = inside.getStore();
    return one ? fake(one.clock)(...args) : real(...args);
  };
  return Object.assign(chosen, real);
}

const timeoutsOf =
  (clock: FakeClock, repeats: boolean) =>
  (run: (...args: unknown[]) => void, delay = 0, ...args: unknown[]): Handle => {
    const handle = new Handle();
    const inContext = AsyncLocalStorage.bind(() => run(...args));
    const arm = () => {
      handle.timer = clock.set(repeats ? Math.max(1, delay) : delay, () => {
        if (repeats) arm();
        inContext();
      });
    };
    arm();
    return handle;
  };

const waitsOf =
  (clock: FakeClock) =>
  (delay = 0, value?: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const refuse = () => reject(Object.assign(new Error('The operation was aborted'), { name: 'AbortError' }));
      if (signal?.aborted) return refuse();
      const timer = clock.set(delay, () => resolve(value));
      signal?.addEventListener('abort', () => {
        clock.clear(timer);
        refuse();
      });
    });

function dateOver(real: DateConstructor): DateConstructor {
  const now = () => inside.getStore()?.clock.now() ?? real.now();
  return new Proxy(real, {
    construct: (target, args, newTarget) =>
      Reflect.construct(target, args.length > 0 ? args : [now()], newTarget) as object,
    apply: () => new real(now()).toString(),
    get: (target, key) => (key === 'now' ? now : Reflect.get(target, key)),
  });
}
