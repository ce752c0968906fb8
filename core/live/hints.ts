/** Hints between processes: faster than notices, not part of any commit, for state that receivers poll anyway. */
import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Notices } from './notices.ts';

export interface Hints {
  /** Reaches the other processes within milliseconds, unless this process or the way breaks in that moment. */
  tell(channel: string, payload: string): void;
  /** Resolves when nothing waits any more. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

/** Hints of one turn of the loop travel together; most of them in one statement. */
const BATCH_SIZE = 500;

/** @param redisUrl takes the hints off the database; while Redis is away they go through the database. */
export function openHints(
  pool: pg.Pool,
  notices: Notices,
  log: Logger,
  redis: { url: string; channel: string } | null,
): Hints {
  const way = redis ? openRedis(redis, notices, log) : null;
  let waiting: string[] = [];
  let running: Promise<void> | null = null;
  const send = async () => {
    while (waiting.length > 0) {
      await new Promise((resolve) => setImmediate(resolve));
      const texts = waiting.splice(0, BATCH_SIZE);
      try {
        if (!(await way?.publish(texts))) await notify(pool, texts);
      } catch (error) {
        log.warn({ err: error }, 'hints for other processes were lost');
      }
    }
    running = null;
  };
  return {
    tell(channel, payload) {
      waiting.push(JSON.stringify([channel, payload, notices.self]));
      running ??= send();
    },
    async flush() {
      while (running) await running;
    },
    async close() {
      waiting = [];
      way?.close();
    },
  };
}

/** A commit with a notice holds a lock that all notices share; without waiting for the disk it is held briefly. */
async function notify(pool: pg.Pool, texts: readonly string[]): Promise<void> {
  const client = await pool.connect();
  try {
    const list = texts.map((text) => client.escapeLiteral(text)).join(', ');
    await client.query(
      `begin; set local synchronous_commit = off; select pg_notify('quartermaster', t) from unnest(array[${list}]) t; commit`,
    );
    client.release();
  } catch (error) {
    client.release(error as Error);
    throw error;
  }
}

function openRedis({ url, channel }: { url: string; channel: string }, notices: Notices, log: Logger) {
  const options = { lazyConnect: false, maxRetriesPerRequest: 1, enableOfflineQueue: false } as const;
  const publisher = new Redis(url, options);
  const subscriber = new Redis(url, { ...options, enableOfflineQueue: true, maxRetriesPerRequest: null });
  for (const one of [publisher, subscriber]) one.on('error', (error) => log.debug({ err: error }, 'Redis is away'));
  subscriber.on('ready', () => {
    // Until now hints went by unheard.
    subscriber.subscribe(channel).then(
      () => notices.missed(),
      () => undefined,
    );
  });
  subscriber.on('message', (_channel, text) => {
    for (const one of JSON.parse(text) as string[]) notices.receive(one);
  });
  return {
    /** False when Redis did not take them. */
    publish: (texts: readonly string[]): Promise<boolean> =>
      publisher.publish(channel, JSON.stringify(texts)).then(
        () => true,
        () => false,
      ),
    close() {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
}
