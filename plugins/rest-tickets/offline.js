// @ts-check
/** One ticket for a device that is offline, closed when it is back; events may come twice, late, and in any order. */
import { RetryableError } from '@quartermaster/plugin-sdk';
import { changeTicket, ensureTicket } from './desk.js';

/**
 * @typedef {import('./desk.js').Context} Context
 * @typedef {import('@quartermaster/plugin-sdk').PluginEvent<{ hostname?: string, lastSeenAt?: string | null }>} Event
 * @typedef {{ at: string, open: boolean, reference: string, externalId: string | null }} Kept what is known of a device:
 *   the newest event that counted, and the ticket
 */

/** @param {Event} event @param {Context} ctx */
export async function onOffline(event, ctx) {
  const { deviceId, id, occurredAt, data } = event;
  if (!ctx.config.openWhenOffline || !deviceId) return;
  const key = `device:${deviceId}`;
  let kept = await ctx.kv.get(key);
  const known = /** @type {Kept | undefined} */ (kept?.value);
  // It has its ticket, or has been back since.
  if (known?.open ? known.externalId : known && occurredAt <= known.at) return;
  // Written down before it is done: whoever dies in between goes on under the same reference.
  if (!known?.open) {
    const begun = { at: occurredAt, open: true, reference: id, externalId: null };
    kept = await ctx.kv.cas(key, begun, kept?.version ?? null);
  }
  if (!kept) return;
  const begun = /** @type {Kept} */ (kept.value);
  const { externalId } = await ensureTicket(ctx, {
    title: `${data.hostname ?? deviceId} is offline`,
    body: `Last heard of: ${data.lastSeenAt ?? 'unknown'}. Device ${deviceId} of ${ctx.org.name}.`,
    reference: begun.reference,
  });
  await ctx.kv.cas(key, { ...begun, externalId }, kept.version);
}

/** @param {Event} event @param {Context} ctx */
export async function onOnline({ deviceId, occurredAt, data }, ctx) {
  if (!ctx.config.openWhenOffline || !deviceId) return;
  const key = `device:${deviceId}`;
  const kept = await ctx.kv.get(key);
  const known = /** @type {Kept | undefined} */ (kept?.value);
  if (known && occurredAt <= known.at) return;
  if (known?.open) {
    if (!known.externalId) throw new RetryableError('Its ticket is just being opened', 5_000);
    const comment = `${data.hostname ?? deviceId} is back online since ${occurredAt}.`;
    await changeTicket(ctx, known.externalId, { status: ctx.config.closedStatus, comment });
  }
  // Also where nothing was open: an older event that comes later must not open anything.
  const closed = { at: occurredAt, open: false, reference: known?.reference ?? '', externalId: null };
  await ctx.kv.cas(key, closed, kept?.version ?? null);
}
