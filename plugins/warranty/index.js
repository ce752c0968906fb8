// @ts-check
/** Warranties of devices, by serial number: a few at a time, each asked for once in a while only. */
import { definePlugin, PermanentError } from '@quartermaster/plugin-sdk';
import { lookUp } from './service.js';

/**
 * @typedef {import('./service.js').Context} Context
 * @typedef {import('./service.js').Warranty} Warranty
 * @typedef {import('@quartermaster/plugin-sdk').DeviceInfo} DeviceInfo
 * @typedef {import('@quartermaster/plugin-sdk').Collected} Collected
 * @typedef {Warranty & { askedAt: number, deviceId: string }} Kept what was answered, and whose fields have it
 */

const DAY = 86_400_000;
/** Of errors that go away: the service wants patience or is away, or too much was asked within a minute. */
const LATER = ['RETRYABLE', 'UPSTREAM_ERROR', 'RATE_LIMITED'];
/** Where the walk through the devices has come to. */
const POSITION = 'position';
const PAGE = 100;
/** Pages that one run looks through: most devices need nothing. */
const MOST_PAGES = 5;

/** Says at once what would otherwise fail each hour. @param {Context} ctx */
async function onEnable(ctx) {
  const fields = await ctx.api.customFields.list();
  for (const [key, type] of [
    ['warranty_end', 'date'],
    ['warranty_level', 'text'],
  ]) {
    const field = fields.find((one) => one.key === key);
    if (field?.type !== type) throw new PermanentError(`Make a custom field ${key} of the type ${type} first`);
  }
}

/** @param {import('@quartermaster/plugin-sdk').CollectInput} input @param {Context} ctx @returns {Promise<Collected>} */
async function collect({ at }, ctx) {
  const now = Date.parse(at);
  let left = ctx.config.lookupsPerRun;
  /** @type {Collected['values']} */
  const values = [];
  /** @type {string[]} */
  const faults = [];
  let cursor = /** @type {string | null} */ ((await ctx.kv.get(POSITION))?.value ?? null);
  try {
    for (let pages = 0; pages < MOST_PAGES; pages += 1) {
      const page = await ctx.api.devices.list({ limit: PAGE, ...(cursor ? { cursor } : {}) });
      for (const device of page.data) {
        if (left === 0 || ctx.signal.aborted) return told(values, faults, ctx);
        const { found, asked, fault } = await warrantyOf(device, now, ctx);
        if (asked) left -= 1;
        if (fault) faults.push(`${device.hostname}: ${fault}`);
        if (found) values.push({ deviceId: device.id, fields: fieldsOf(found) });
      }
      cursor = page.cursor;
      // The next run begins where this one ended; at the end, anew.
      await ctx.kv.set(POSITION, cursor);
      if (!cursor) break;
    }
  } catch (error) {
    // What was found so far is written; the rest waits for the next run. A service that never answers is worth a failure.
    const { code, message } = /** @type {{ code?: string, message: string }} */ (error);
    if (values.length === 0 || !LATER.includes(code ?? '')) throw error;
    ctx.log.warn(`Stopped early: ${message}`, { found: values.length });
  }
  return told(values, faults, ctx);
}

/** Where nothing but faults came of it, that is a failure, so that it is seen. @param {Collected['values']} values @param {string[]} faults @param {Context} ctx */
function told(values, faults, ctx) {
  if (faults.length > 0 && values.length === 0) throw new PermanentError(faults[0] ?? '');
  for (const fault of faults) ctx.log.warn(fault);
  return { values };
}

/**
 * What is news for the device, and whether the service was asked for it.
 * @param {DeviceInfo} device @param {number} now @param {Context} ctx
 * @returns {Promise<{ found: Warranty | null, asked: boolean, fault?: string }>}
 */
async function warrantyOf(device, now, ctx) {
  const serial = device.serialNumber?.trim();
  if (!serial || serial.length > 100) return { found: null, asked: false };
  const key = `serial:${serial}`;
  const kept = /** @type {Kept | undefined} */ ((await ctx.kv.get(key))?.value);
  const fresh = kept && now - kept.askedAt < ctx.config.cacheDays * DAY;
  if (fresh && kept.deviceId === device.id) return { found: null, asked: false };
  if (fresh) {
    const found = { end: kept.end, level: kept.level };
    await ctx.kv.set(key, { ...kept, deviceId: device.id });
    return { found, asked: false };
  }
  try {
    const found = await lookUp(serial, device, ctx);
    await ctx.kv.set(key, { ...found, askedAt: now, deviceId: device.id });
    return { found, asked: true };
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    // It must not keep the others waiting: it is asked for again tomorrow, and its fields stay as they are.
    const tomorrow = now - (ctx.config.cacheDays - 1) * DAY;
    await ctx.kv.set(key, { end: null, level: null, ...kept, askedAt: tomorrow, deviceId: device.id });
    return { found: null, asked: true, fault: error.message };
  }
}

/** @param {Warranty} warranty */
const fieldsOf = ({ end, level }) => ({ warranty_end: end, warranty_level: level });

export default definePlugin({ onEnable, handlers: { collect } });
