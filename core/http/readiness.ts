/** Whether this process can serve requests: it tries what a request needs of the database, and says what is missing. */
import type pg from 'pg';
import { queryWithin } from '../database/connections/silence.ts';
import { outageOf } from '../database/errors.ts';

/** Milliseconds in which each trial must end. */
const TRIAL_MS = 3_000;
/** Milliseconds for which an answer holds: many may ask at once. */
const HOLD_MS = 1_000;

/**
 * A commit that writes and is waited for: a standby refuses it, and so does a database without space; one whose synchronous standby
 * is away never ends it. Both statements are one transaction, and leave one row a minute.
 */
const WRITE = `insert into sync_horizons default values on conflict do nothing;
select pg_logical_emit_message(true, 'quartermaster', 'ready')`;

/** Returns a function that resolves with what is missing, or with null. */
export function watchReadiness({ app, platform }: { app: pg.Pool; platform: pg.Pool }): () => Promise<string | null> {
  let latest: Promise<string | null> | null = null;
  const look = async () =>
    (await trial('a connection for requests', app, 'select 1')) ?? (await trial('a write', platform, WRITE));
  return () => {
    if (!latest) {
      const asked = look();
      latest = asked;
      const forget = () => {
        latest = null;
      };
      void asked.then(() => setTimeout(forget, HOLD_MS).unref());
    }
    return latest;
  };
}

async function trial(what: string, pool: pg.Pool, text: string): Promise<string | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    const waiting = () => (pool.waitingCount > 0 ? 'no connection is free' : 'the database does not answer in time');
    timer = setTimeout(() => resolve(`${what}: ${waiting()}`), TRIAL_MS);
  });
  const tried = queryWithin(pool, TRIAL_MS, { text }).then(
    () => null,
    (error: Error) => `${what}: ${outageOf(error)?.reason ?? error.message}`,
  );
  try {
    return await Promise.race([tried, late]);
  } finally {
    clearTimeout(timer);
  }
}
