/** Waiting for what comes by itself. */
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Looks until something is there, which it gives; throws after `seconds`. They are many: machines can be slow, and they
 * only pass when something is wrong.
 */
export async function until<T>(
  look: () => T | Promise<T>,
  seconds = 60,
): Promise<Exclude<T, false | null | undefined>> {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const seen = await look();
    if (seen) return seen as Exclude<T, false | null | undefined>;
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain: ${look}`);
    await pause(20);
  }
}

/** What one look counts at most: a look takes a few, and more only where the machine has other work. */
const MOST_MS_A_LOOK = 25;

/** Whether it comes to that within so many milliseconds, as a machine counts them that has nothing else to do. */
export async function within(ms: number, look: () => boolean | Promise<boolean>): Promise<boolean> {
  for (let counted = 0; counted <= ms; ) {
    const begin = performance.now();
    if (await look()) return true;
    await pause(2);
    counted += Math.min(performance.now() - begin, MOST_MS_A_LOOK);
  }
  return false;
}
