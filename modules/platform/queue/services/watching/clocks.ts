/**
 * Timers for work that must also run without a worker: counting the queue, checking its health, and sending notices. Every
 * process has these timers, and an advisory lock gives each round to one process.
 */
import type { StartServices } from '#core';
import type { HealthChange } from '../../models/health.ts';
import { countQueue } from '../domain-queues.ts';
import { judgeHealth } from './health.ts';
import { sendNotice } from './notices.ts';
import { takeSnapshot } from './snapshots.ts';

const SNAPSHOT_MS = 15_000;
const MINUTE_MS = 60_000;

/** Returns what stops them and waits for the round under way. */
export function startClocks({ asPlatform, log }: StartServices): () => Promise<void> {
  const stops = [
    every(SNAPSHOT_MS, () => asPlatform(async (ctx) => void (await takeSnapshot(ctx))), log),
    every(MINUTE_MS, () => minute(asPlatform, log), log),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

async function minute(asPlatform: StartServices['asPlatform'], log: StartServices['log']): Promise<void> {
  const changes = await asPlatform((ctx) => judgeHealth(ctx));
  // Without a worker the job that mails the change does not run. If a worker returns at once, the mail is sent twice.
  for (const change of changes.filter(withoutWorker)) await asPlatform((ctx) => sendNotice(ctx, change));
  const queues = await asPlatform(async (ctx) => ctx.contributions('queue.domain-queue'));
  for (const queue of queues) {
    // One that cannot be counted does not hide those that follow.
    await asPlatform((ctx) => countQueue(ctx, queue)).catch((err: Error) =>
      log.warn({ err, queue: queue.name }, 'could not count a queue'),
    );
  }
}
const withoutWorker = ({ rule, level }: HealthChange) => rule === 'no_worker' && level !== 'ok';

/** Runs rounds one after another; logs a round that fails and goes on with the next. */
function every(ms: number, run: () => Promise<void>, log: StartServices['log']): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let idle = true;
  const timer = setInterval(() => {
    if (!idle) return;
    idle = false;
    running = run()
      .catch((error: Error) => log.warn({ err: error }, 'could not check the job queue'))
      .finally(() => {
        idle = true;
      });
  }, ms);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await running;
  };
}
