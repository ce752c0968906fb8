/** Waits for conditions that become true without the test's doing. */
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Polls until `look` resolves with something, and resolves with it; throws after `seconds`. The limit is high because test
 * machines can be slow; it is reached only when something is wrong.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  seconds = 60,
): Promise<Exclude<T, false | null | undefined>> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen as Exclude<T, false | null | undefined>;
    if (Date.now() > end) throw new Error(`still false after ${seconds} s: ${look}`);
    await pause(20);
  }
}

/** One poll counts at most this long: it takes a few milliseconds, and more only when the machine is busy. */
const MAX_MS_A_POLL = 25;

/** Whether `look` becomes true within `ms` milliseconds of an idle machine. */
export async function within(ms: number, look: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let counted = 0; counted <= ms; ) {
    const begin = performance.now();
    if (await look()) return true;
    await pause(2);
    counted += Math.min(performance.now() - begin, MAX_MS_A_POLL);
  }
  return false;
}
