/**
 * What must happen also when no worker runs: counting the queue, judging its health, and telling people. Every process has
 * these clocks, and an advisory lock gives each round to one.
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
export function startClocks(asPlatform: StartServices['asPlatform']): () => Promise<void> {
  const stops = [
    every(SNAPSHOT_MS, () => asPlatform(async (ctx) => void (await takeSnapshot(ctx))), asPlatform),
    every(MINUTE_MS, () => minute(asPlatform), asPlatform),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

async function minute(asPlatform: StartServices['asPlatform']): Promise<void> {
  const changes = await asPlatform((ctx) => judgeHealth(ctx));
  // Without a worker nobody would run the job that mails it. Should one come back at once, people get it twice.
  for (const change of changes.filter(withoutWorker)) await asPlatform((ctx) => sendNotice(ctx, change));
  const queues = await asPlatform(async (ctx) => ctx.fillings('queue.domain-queue'));
  for (const queue of queues) await asPlatform((ctx) => countQueue(ctx, queue));
}
const withoutWorker = ({ rule, level }: HealthChange) => rule === 'no_worker' && level !== 'ok';

/** One round after another; one that fails is told in the log and the next one comes. */
function every(ms: number, run: () => Promise<void>, asPlatform: StartServices['asPlatform']): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  let idle = true;
  const timer = setInterval(() => {
    if (!idle) return;
    idle = false;
    running = run()
      .catch((error: Error) =>
        asPlatform(async (ctx) => ctx.log.warn({ err: error }, 'the queue could not be looked at')),
      )
      .catch(() => undefined)
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
