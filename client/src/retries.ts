/** Sends a request again where that cannot do anything twice. */
import { authorize, type Credentials } from './credentials.ts';

export interface Retries {
  /** Further attempts after the first; 4 when not said, 0 for none. */
  most?: number;
  /** Milliseconds before the first repeat, doubled for each further one; 500 when not said. */
  baseMs?: number;
  /** Milliseconds that a pause may last; a server that asks for longer gets no repeat. 60,000 when not said. */
  longestMs?: number;
}
export type Fetch = (request: Request) => Promise<Response>;

export const BASE_MS = 500;
/** Answers of a server or proxy that is away; the request may have been carried out all the same. */
const AWAY = new Set([502, 503, 504]);

/** Milliseconds that the answer asks for: `Retry-After` in seconds or as a date, else the reset of the exhausted `RateLimit`. */
export function askedPause(headers: Headers, now = Date.now()): number | undefined {
  const after = headers.get('retry-after');
  if (after !== null) {
    const seconds = Number(after);
    const ms = Number.isFinite(seconds) ? seconds * 1000 : Date.parse(after) - now;
    if (Number.isFinite(ms)) return Math.max(0, ms);
  }
  const resets = [...(headers.get('ratelimit') ?? '').matchAll(/;r=0\b[^,]*?;t=(\d+)|;t=(\d+)[^,]*?;r=0\b/g)];
  const seconds = resets.map(([, late, early]) => Number(late ?? early));
  return seconds.length > 0 ? Math.max(...seconds) * 1000 : undefined;
}

/** Rejects when the signal aborts. */
export const pause = (ms: number, signal: AbortSignal) =>
  new Promise<void>((resolve, reject) => {
    signal.throwIfAborted();
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal.addEventListener('abort', abort, { once: true });
  });

/**
 * @param harmless whether the request may be carried out twice: it reads, or the server knows its Idempotency-Key
 */
export function retrying(
  fetch: Fetch,
  credentials: Credentials,
  { most = 4, baseMs = BASE_MS, longestMs = 60_000 }: Retries,
  harmless: (request: Request) => boolean,
): Fetch {
  /** Undefined where there is no further attempt. */
  const delay = (tried: number, answer?: Response) => {
    if (tried >= most) return undefined;
    const asked = answer && askedPause(answer.headers);
    // Full jitter, so that many clients of a server that was away do not come back at once.
    const own = Math.min(longestMs, baseMs * 2 ** tried) * Math.random();
    return asked === undefined ? own : asked > longestMs ? undefined : asked + own;
  };
  return async (request) => {
    const { signal } = request;
    // The clone of a body is held in memory until it is sent: bytes are sent once.
    const keepable = !request.body || request.headers.get('content-type') === 'application/json';
    let refused: string | undefined;
    for (let tried = 0; ; ) {
      const attempt = keepable ? request.clone() : request;
      const token = await authorize(attempt, credentials, refused);
      let answer: Response | undefined;
      let fault: unknown;
      try {
        answer = await fetch(attempt);
      } catch (error) {
        fault = error;
      }
      signal.throwIfAborted();
      if (answer?.status === 401 && token !== undefined && refused === undefined && keepable) {
        refused = token;
        await answer.body?.cancel();
        continue;
      }
      // A request refused for its rate was not executed. For all other failures that is unknown.
      const again = answer
        ? answer.status === 429 || (AWAY.has(answer.status) && harmless(request))
        : harmless(request);
      const ms = again && keepable ? delay(tried, answer) : undefined;
      if (ms === undefined) {
        if (answer) return answer;
        throw fault;
      }
      await answer?.body?.cancel();
      await pause(ms, signal);
      tried += 1;
    }
  };
}
