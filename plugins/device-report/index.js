// @ts-check
/** The device report: rows for the server, a file for people, and the figures of each month for comparison. */
import { definePlugin } from '@quartermaster/plugin-sdk';
import { asCsv, asHtml } from './formats.js';
import { COLUMNS, readRows, summaryOf } from './rows.js';

/**
 * @typedef {import('@quartermaster/plugin-sdk').PluginContext} Context
 * @typedef {import('./rows.js').Summary} Summary
 */

/** @param {string | Date} at */
const monthOf = (at) => new Date(at).toISOString().slice(0, 7);

/** The newest figures from before this month. @param {Context} ctx @param {string} month @returns {Promise<Summary | null>} */
async function before(ctx, month) {
  const kept = await ctx.kv.list({ prefix: 'month:' });
  const older = kept.filter(({ key }) => key < `month:${month}`).at(-1);
  return /** @type {Summary | null} */ (older?.value ?? null);
}

export default definePlugin({
  handlers: {
    /** @param {import('@quartermaster/plugin-sdk').ReportInput} input @param {Context} ctx */
    build: async ({ input }, ctx) => ({ columns: COLUMNS, rows: await readRows(ctx, input, new Date()) }),

    /** @param {import('@quartermaster/plugin-sdk').ActionCall} call @param {Context} ctx */
    async make({ input }, ctx) {
      const now = new Date();
      const rows = await readRows(ctx, input, now);
      const name = `devices-${now.toISOString().slice(0, 10)}`;
      if (input.format === 'csv') return { fileName: `${name}.csv`, type: 'text/csv', content: asCsv(rows) };
      const past = await before(ctx, monthOf(now));
      const content = asHtml({ organization: ctx.org.name, at: now, rows, summary: summaryOf(rows), past });
      return { fileName: `${name}.html`, type: 'text/html', content };
    },

    /** @param {import('@quartermaster/plugin-sdk').Scheduled} occurrence @param {Context} ctx */
    async onMonth({ at }, ctx) {
      const month = monthOf(at);
      const key = `month:${month}`;
      // An occurrence may come twice; the month is told once.
      if (await ctx.kv.get(key)) return;
      const summary = summaryOf(await readRows(ctx, {}, new Date(at)));
      await ctx.events.emit('device_report.month', { month, ...summary });
      await ctx.kv.set(key, summary);
      ctx.log.info(`The figures of ${month} are kept`, { ...summary });
    },
  },
});
