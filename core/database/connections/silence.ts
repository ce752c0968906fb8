/** Ends connections whose answer is overdue, so that their queries fail, their callers go on and the pool opens another. */
import pg from 'pg';
import { databaseErrorOf } from '../errors.ts';

/** Milliseconds without an answer to a query after which a new connection is tried, to learn whether the server answers at all. */
const SUSPECT_MS = 10_000;
/** Milliseconds in which a server that runs answers a new connection. */
const PROBE_MS = 5_000;
const LOOK_MS = 1_000;

const WATCH = Symbol('watch');
const OVERDUE = 'Connection terminated: the database did not answer in time';

/** How long the queries of one connection have waited, and how long they may. */
interface Watch {
  /** Milliseconds of a monotonic clock; null while no query waits. */
  waitingSince: number | null;
  waiting: number;
  limitMs: number;
  readonly usualMs: number;
}
type WatchedClient = pg.ClientBase & { [WATCH]?: Watch };

/** Limits how long queries wait for their answers, until the connection goes back to its pool. */
export function limitAnswers(client: pg.ClientBase, limitMs: number): void {
  const watch = (client as WatchedClient)[WATCH];
  if (watch) watch.limitMs = limitMs;
}

/** Back to the limit of the pool. */
export function restoreLimit(client: pg.ClientBase): void {
  const watch = (client as WatchedClient)[WATCH];
  if (watch) watch.limitMs = watch.usualMs;
}

/** One query whose answer must come within the limit. For statements whose delay would stop everything else. */
export async function queryWithin<R extends pg.QueryResultRow>(
  pool: pg.Pool,
  limitMs: number,
  query: pg.QueryConfig,
): Promise<pg.QueryResult<R>> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    limitAnswers(client, limitMs);
    return await client.query<R>(query);
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    client.release(databaseErrorOf(broken) ? undefined : broken);
  }
}

/** Watches the connections of all pools of a process. */
export class SilenceWatch {
  readonly #url: string;
  readonly #clients = new Set<WatchedClient>();
  readonly #timer: NodeJS.Timeout;
  #probing: Promise<boolean> | null = null;

  /** @param url of the server that is asked whether it answers */
  constructor(url: string) {
    this.#url = url;
    this.#timer = setInterval(() => void this.#look(), LOOK_MS);
    this.#timer.unref();
  }

  add(client: pg.ClientBase, usualMs: number): void {
    const watched: WatchedClient = client;
    const watch: Watch = { waitingSince: null, waiting: 0, limitMs: usualMs, usualMs };
    watched[WATCH] = watch;
    this.#clients.add(watched);
    client.once('end', () => this.#clients.delete(watched));
    followQueries(client, watch);
  }

  /** Ends every connection of a server that does not answer. Returns whether it answers. */
  async endIfSilent(): Promise<boolean> {
    const answers = await this.#probe();
    if (!answers) this.endAll();
    return answers;
  }

  endAll(): void {
    for (const client of this.#clients) destroy(client);
  }

  close(): void {
    clearInterval(this.#timer);
    this.endAll();
  }

  async #look(): Promise<void> {
    const now = performance.now();
    let isSuspect = false;
    for (const client of this.#clients) {
      const { waitingSince = null, limitMs = 0 } = client[WATCH] ?? {};
      if (waitingSince === null) continue;
      if (now - waitingSince > limitMs) destroy(client);
      else if (now - waitingSince > SUSPECT_MS) isSuspect = true;
    }
    // Idle connections go as well: the queue listens on one for hours and would not notice.
    if (isSuspect && !this.#probing) await this.endIfSilent();
  }

  #probe(): Promise<boolean> {
    this.#probing ??= answers(this.#url).finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }
}

/** Notes when queries are sent and answered, whether they end in a callback or in a promise. */
function followQueries(client: pg.ClientBase, watch: Watch): void {
  const send = client.query.bind(client) as (...args: unknown[]) => unknown;
  const answered = () => {
    watch.waiting -= 1;
    watch.waitingSince = watch.waiting > 0 ? performance.now() : null;
  };
  const followed = (...args: unknown[]): unknown => {
    watch.waiting += 1;
    watch.waitingSince ??= performance.now();
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = (...outcome: unknown[]) => {
        answered();
        callback(...outcome);
      };
      return send(...args);
    }
    const result = send(...args);
    if (result instanceof Promise) result.then(answered, answered);
    else answered();
    return result;
  };
  client.query = followed as typeof client.query;
}

/** The driver hands the error to every query that waits. */
export function destroy(client: pg.ClientBase): void {
  (client as pg.PoolClient).connection.stream.destroy(new Error(OVERDUE));
}

/** Whether the server answers a new connection, even if it refuses it. */
async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_MS });
  client.on('error', () => undefined);
  const timer = setTimeout(() => destroy(client), PROBE_MS);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    return databaseErrorOf(error) !== undefined;
  } finally {
    clearTimeout(timer);
    destroy(client);
  }
}
