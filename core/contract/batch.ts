/** Group commit: items that arrive while a batch is written form the next batch. */
import type { Sql } from '../context/sql.ts';

export interface Batch<I, O> {
  name: string;
  maxSize: number;
  /**
   * For a steady stream of small items: a batch smaller than `enough` is delayed until `everyMs` milliseconds have passed since
   * the one before. The first batch after a pause is not delayed.
   */
  pace?: { everyMs: number; enough: number };
  /** Each statement of `run` commits by itself, which saves two round trips; only where each may stand alone. */
  autocommit?: true;
  run(sql: Sql, items: readonly I[]): Promise<readonly O[]>;
}
export const defineBatch = <I, O>(batch: Batch<I, O>): Batch<I, O> => batch;
