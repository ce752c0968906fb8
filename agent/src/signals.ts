/** Turns Ctrl-C and SIGTERM into a clean stop. */

/** A second signal within this time is the same one: npm passes on what the terminal has sent already. */
const SAME_MS = 1_000;

/** A signal that aborts on the first request to stop; a later second request ends the process at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    if (!stop.signal.aborted) {
      firstAt = performance.now();
      stop.abort();
    } else if (performance.now() - firstAt > SAME_MS) process.exit(130);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return stop.signal;
}
