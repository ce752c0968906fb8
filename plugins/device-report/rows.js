// @ts-check
/** The rows of the report, and what they add up to. */

/**
 * @typedef {import('@quartermaster/plugin-sdk').PluginContext} Context
 * @typedef {{ name: string, osType: string, osVersion: string, model: string, serialNumber: string, enrolledAt: string,
 *   ageYears: number | null, lastSeenAt: string, tags: string }} Row
 * @typedef {{ devices: number, byOs: Record<string, number>, silent: number }} Summary `silent`: not heard of for 30 days
 */

export const COLUMNS = [
  { key: 'name', label: 'Device' },
  { key: 'osType', label: 'System' },
  { key: 'osVersion', label: 'Version' },
  { key: 'model', label: 'Model' },
  { key: 'serialNumber', label: 'Serial number' },
  { key: 'enrolledAt', label: 'Enrolled' },
  { key: 'ageYears', label: 'Years since then' },
  { key: 'lastSeenAt', label: 'Last seen' },
  { key: 'tags', label: 'Tags' },
];
/** What a report may have; a file of so many stays below what one answer may hold. */
const MOST = 3_000;
const YEAR = 365.25 * 86_400_000;
const SILENT = 30 * 86_400_000;

/** By name. @param {Context} ctx @param {Record<string, unknown>} input @param {Date} now @returns {Promise<Row[]>} */
export async function readRows(ctx, { olderThanYears }, now) {
  /** @type {Row[]} */
  const rows = [];
  /** @type {string | null} */
  let cursor = null;
  do {
    /** @type {import('@quartermaster/plugin-sdk').Page<import('@quartermaster/plugin-sdk').DeviceInfo>} */
    const page = await ctx.api.devices.list({ limit: 100, ...(cursor ? { cursor } : {}) });
    for (const device of page.data) {
      const { enrolledAt = null, lastSeenAt = null } = device;
      const years =
        enrolledAt === null ? null : Math.floor(((now.getTime() - Date.parse(enrolledAt)) / YEAR) * 10) / 10;
      if (typeof olderThanYears === 'number' && (years === null || years < olderThanYears)) continue;
      rows.push({
        ...{ name: device.displayName ?? device.hostname, osType: device.osType, osVersion: device.osVersion ?? '' },
        ...{
          model: [device.manufacturer, device.model].filter(Boolean).join(' '),
          serialNumber: device.serialNumber ?? '',
        },
        ...{ enrolledAt: enrolledAt?.slice(0, 10) ?? '', ageYears: years, lastSeenAt: lastSeenAt ?? '' },
        tags: device.tags.join(', '),
      });
    }
    cursor = page.cursor;
  } while (cursor && rows.length < MOST);
  if (cursor) ctx.log.warn(`The report ends after ${MOST} devices`);
  return rows.slice(0, MOST);
}

/** @param {Row[]} rows @param {Date} [now] @returns {Summary} */
export function summaryOf(rows, now = new Date()) {
  /** @type {Record<string, number>} */
  const byOs = {};
  for (const { osType } of rows) byOs[osType] = (byOs[osType] ?? 0) + 1;
  const isSilent = (/** @type {Row} */ { lastSeenAt }) =>
    !lastSeenAt || now.getTime() - Date.parse(lastSeenAt) > SILENT;
  return { devices: rows.length, byOs, silent: rows.filter(isSilent).length };
}
