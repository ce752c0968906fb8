/** Sends what is due in a queue at this moment and waits for it, for tests that go step by step. */
import type { AnyDeliveryQueue, StartServices } from '../contract/index.ts';
import { attempt } from './attempt.ts';
import { gateOf } from './gate.ts';
import { QueueStore } from './store.ts';

/** Attempts that are made at a time. */
const BATCH_SIZE = 100;

export async function drainQueue(start: StartServices, module: string, queue: AnyDeliveryQueue): Promise<void> {
  const gate = gateOf(start.services.modules, module);
  const store = new QueueStore(queue, gate);
  const never = new AbortController().signal;
  const room = { free: BATCH_SIZE, othersFree: BATCH_SIZE, quick: [] };
  if (gate.known()) await start.asPlatform((ctx) => store.expire(ctx, gate.closed()));
  for (;;) {
    const { send, more } = await start.asPlatform(async (ctx) => {
      await store.takeTurn(ctx);
      return store.claim(ctx, room);
    });
    if (send.length === 0 && !more) return;
    const results = await Promise.all(send.map((message) => attempt(start, queue, gate, message, never)));
    if (results.length === 0) continue;
    await start.asPlatform((ctx) => store.write(ctx, results));
    await queue.afterResults?.(start, results);
  }
}
