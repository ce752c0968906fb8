/** Timers over those of the process around the interpreter. */
import { type HostFunctions, provide } from './host-functions.ts';

const LONGEST = 2 ** 31 - 1;

interface Timer {
  run(): void;
  everyMs: number | null;
}

/** Returns what is called when a timer is due. */
export function provideTimers(host: HostFunctions): (id: number) => void {
  const timers = new Map<number, Timer>();
  let last = 0;
  const set = (run: unknown, ms: unknown, repeats: boolean, args: unknown[]): number => {
    if (typeof run !== 'function') throw new TypeError('A timer takes a function');
    const id = ++last;
    const wanted = Number(ms);
    const delay = wanted >= 1 && wanted <= LONGEST ? wanted : 1;
    timers.set(id, { run: () => void run(...args), everyMs: repeats ? delay : null });
    host.setTimer(id, delay);
    return id;
  };
  const clear = (id: unknown): void => {
    if (timers.delete(Number(id))) host.clearTimer(Number(id));
  };
  provide({
    setTimeout: (run: unknown, ms?: unknown, ...args: unknown[]) => set(run, ms, false, args),
    setInterval: (run: unknown, ms?: unknown, ...args: unknown[]) => set(run, ms, true, args),
    setImmediate: (run: unknown, ...args: unknown[]) => set(run, 1, false, args),
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate: clear,
    queueMicrotask: (run: () => void) => void Promise.resolve().then(run),
  });
  return (id) => {
    const timer = timers.get(id);
    if (!timer) return;
    if (timer.everyMs === null) timers.delete(id);
    else host.setTimer(id, timer.everyMs);
    timer.run();
  };
}
