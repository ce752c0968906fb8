/** Requests to other servers: how long they may take, how much may come back, and what a plugin sees of it. */

/** Below what one message may hold once it is JSON. */
export const MOST_BODY_BYTES = 512 * 1024;
const USUAL_MS = 15_000;

/** @param mostMs of the invocation */
export const requestTimeout = (asked: number | undefined, mostMs: number): number =>
  Math.min(asked ?? USUAL_MS, mostMs);

/** One text for each header, and no name that reaches a prototype. */
export function plainHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || name === '__proto__' || name === 'constructor'
        ? []
        : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
