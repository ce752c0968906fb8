/** A test of a channel: one message at once, past throttle and quiet hours, and what the other side said to it. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { type Context, mustWriteFor } from '#core';
import { headingOf, type Outgoing } from '../models/message.ts';
import { mustKnow } from './adapters/adapters.ts';
import { failure } from './adapters/requests.ts';
import { audit, mustSee } from './channels.ts';
import { opened } from './configs.ts';

const LONGEST_MS = 15_000;

/** No transaction is open while it waits. */
export async function testChannel(ctx: Context, id: string) {
  const { channel, config, adapter } = await ctx.asCaller(async (own) => {
    const found = await mustSee(own, id);
    mustWriteFor(own, found);
    audit(own, 'notification_channel.test', found, { type: found.type });
    return { channel: found, config: opened(own, found), adapter: mustKnow(own, found.type) };
  });
  const key = randomUUID();
  const title = `Quartermaster reaches ${channel.name}`;
  const message: Outgoing = {
    ...{ id: key, alertId: key, kind: 'test', severity: 'info', reached: [] },
    title,
    heading: headingOf({ kind: 'test', title }),
    message: 'This is a test of the channel. No action is needed.',
    url: ctx.services.config.http.publicUrl,
    at: new Date().toISOString(),
  };
  const begun = performance.now();
  const late = AbortSignal.timeout(LONGEST_MS);
  const { success, status, answer } = await Promise.race([
    adapter.send(ctx.services, config, message, { ctx, owner: channel }),
    once(late, 'abort').then(() => failure('no answer within 15 seconds', false)),
  ]);
  const latencyMs = Math.round(performance.now() - begun);
  return {
    data: {
      ...{ success, status, latencyMs, providerStatus: status, providerMessage: answer },
      ...(success ? {} : { error: answer }),
    },
  };
}
