/** Group commit: while one batch is being written, arriving items wait together and form the next one. */
import type pg from 'pg';
import type { Batch } from '../contract/index.ts';
import { limitAnswers } from './connections/silence.ts';
import { databaseErrorOf } from './errors.ts';

/** Milliseconds in which the answer to a statement of a batch must come: its items are heartbeats and their like. */
const ANSWER_MS = 15_000;

interface Waiting<I, O> {
  item: I;
  resolve(value: O): void;
  reject(error: unknown): void;
}

export interface Batches {
  add<I, O>(batch: Batch<I, O>, item: I): Promise<O>;
  /** Resolves when nothing waits any more. */
  drain(): Promise<void>;
}

/** @param pool the platform role's pool: items of many tenants share a statement, each carrying its own organization. */
export function openBatches(pool: pg.Pool): Batches {
  // biome-ignore lint/suspicious/noExplicitAny: each batch has its own item type, kept by add()
  const lanes = new Map<Batch<any, any>, Lane<any, any>>();
  return {
    add<I, O>(batch: Batch<I, O>, item: I): Promise<O> {
      let lane = lanes.get(batch) as Lane<I, O> | undefined;
      if (!lane) {
        lane = new Lane(batch, pool);
        lanes.set(batch, lane);
      }
      return lane.add(item);
    },
    async drain() {
      await Promise.all([...lanes.values()].map((lane) => lane.idle()));
    },
  };
}

class Lane<I, O> {
  private readonly batch: Batch<I, O>;
  private readonly pool: pg.Pool;
  private waiting: Waiting<I, O>[] = [];
  private running: Promise<void> | null = null;
  /** When the latest batch began to be written, in milliseconds of a monotonic clock. */
  private begunAt = Number.NEGATIVE_INFINITY;
  /** Ends the wait for more items. */
  private wake: (() => void) | null = null;

  constructor(batch: Batch<I, O>, pool: pg.Pool) {
    this.batch = batch;
    this.pool = pool;
  }

  add(item: I): Promise<O> {
    const promise = new Promise<O>((resolve, reject) => {
      this.waiting.push({ item, resolve, reject });
    });
    if (this.wake && this.waiting.length >= (this.batch.pace?.enough ?? 0)) this.wake();
    this.running ??= this.work();
    return promise;
  }

  async idle(): Promise<void> {
    while (this.running) await this.running;
  }

  private async work(): Promise<void> {
    while (this.waiting.length > 0) {
      // Let the requests of this turn of the loop join: fewer, larger batches cost less than eager small ones.
      await new Promise((resolve) => setImmediate(resolve));
      await this.gather();
      this.begunAt = performance.now();
      await this.write(this.waiting.splice(0, this.batch.maxSize));
    }
    this.running = null;
  }

  private async gather(): Promise<void> {
    const { pace } = this.batch;
    const left = pace ? pace.everyMs - (performance.now() - this.begunAt) : 0;
    if (!pace || left <= 0 || this.waiting.length >= pace.enough) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, left);
      this.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.wake = null;
  }

  private async write(group: Waiting<I, O>[]): Promise<void> {
    let client: pg.PoolClient | undefined;
    let broken: Error | undefined;
    try {
      client = await this.pool.connect();
      const held = client;
      limitAnswers(held, ANSWER_MS);
      if (!this.batch.autocommit) await held.query('begin');
      const results = await this.batch.run(
        (text, values, name) => held.query(name ? { name, text, values } : { text, values }),
        group.map((one) => one.item),
      );
      if (!this.batch.autocommit) await held.query('commit');
      for (const [index, one] of group.entries()) one.resolve(results[index] as O);
    } catch (error) {
      if (!databaseErrorOf(error)) broken = error as Error;
      else if (!this.batch.autocommit) {
        await client?.query('rollback').catch((lost: Error) => {
          broken = lost;
        });
      }
      for (const one of group) one.reject(error);
    } finally {
      client?.release(broken);
    }
  }
}
