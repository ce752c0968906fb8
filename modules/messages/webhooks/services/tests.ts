/** Testing a webhook, with or without waiting for the result. */
import { setTimeout as pause } from 'node:timers/promises';
import { type Context, type Reply, reply } from '#core';
import { Delivery } from '../models/delivery.ts';
import { addTest, show } from './deliveries.ts';

/** Longer than one attempt may take. */
const LONGEST_MS = 20_000;
const LOOK_MS = 150;

/** The route opens no transaction of its own, so that none is open while it waits. */
export async function testWebhook(ctx: Context, id: string, event: string, wait: boolean): Promise<Reply | object> {
  const deliveryId = await ctx.asPlatform((own) => addTest(own, id, event));
  // The audit entry was committed with the transaction above.
  ctx.unchanged();
  if (!wait) return { deliveryId };
  const end = Date.now() + LONGEST_MS;
  for (;;) {
    const delivery = await ctx.asPlatform(async (own) => Delivery.in(own).findById(deliveryId));
    const over = delivery?.status === 'delivered' || delivery?.status === 'failed' || Date.now() > end;
    if (delivery && over) return reply({ data: show(ctx, delivery) }, { status: 200 });
    await pause(LOOK_MS);
  }
}
