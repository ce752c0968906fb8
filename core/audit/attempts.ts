/** Failed and denied attempts: no transaction commits for them, so they go to the outbox batched on a connection of their own. */

import type pg from 'pg';
import type { Logger } from 'pino';
import { storable } from '../work/index.ts';
import type { AuditRow } from './record.ts';

const MAX_WAITING_ROWS = 10_000;

export interface Attempts {
  add(row: AuditRow): void;
  flush(): Promise<void>;
}

/** Rows wait at most 100 ms. More than 10,000 waiting rows (the database is away) are dropped with a warning. */
export function openAttempts(pool: pg.Pool, log: Logger): Attempts {
  let waiting: AuditRow[] = [];
  let timer: NodeJS.Timeout | null = null;
  let writing: Promise<void> = Promise.resolve();
  const write = async () => {
    timer = null;
    const rows = waiting;
    if (rows.length === 0) return;
    waiting = [];
    try {
      await pool.query('select flush_effects($1::jsonb)', [storable({ audits: rows })]);
    } catch (error) {
      log.warn({ err: error, rows: rows.length }, 'attempts could not be recorded yet');
      waiting = [...rows, ...waiting].slice(-MAX_WAITING_ROWS);
      timer ??= setTimeout(next, 1000);
    }
  };
  const next = () => {
    writing = writing.then(write);
  };
  return {
    add(row) {
      if (waiting.length >= MAX_WAITING_ROWS) {
        log.warn('too many unrecorded attempts; one dropped');
        return;
      }
      waiting.push(row);
      timer ??= setTimeout(next, 100);
    },
    async flush() {
      if (timer) clearTimeout(timer);
      next();
      await writing;
    },
  };
}
