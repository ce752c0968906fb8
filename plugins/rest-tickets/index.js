// @ts-check
/** Tickets in somebody's ticket system: for other features, by hand, and when a device goes offline. */
import { definePlugin } from '@quartermaster/plugin-sdk';
import { changeTicket, ensureTicket, listOf, request, ticketOf, valueAt } from './desk.js';
import { onOffline, onOnline } from './offline.js';

/**
 * @typedef {import('./desk.js').Context} Context
 * @typedef {import('@quartermaster/plugin-sdk').TicketInput} TicketInput
 * @typedef {import('@quartermaster/plugin-sdk').TicketChange} TicketChange
 * @typedef {import('@quartermaster/plugin-sdk').ActionCall} ActionCall
 */

const MOST_COMPANIES = 5_000;

/** The other side's word for a severity. @param {string} severity @param {import('./desk.js').Config} config */
const priorityOf = (severity, { priorities }) =>
  priorities.find((one) => one.startsWith(`${severity}=`))?.slice(severity.length + 1) ?? severity;

export default definePlugin({
  handlers: {
    onOffline,
    onOnline,

    /** The action "Open a ticket". @param {ActionCall} call @param {Context} ctx */
    async openTicket({ target, input }, ctx) {
      const { title, body = '', priority } = /** @type {{ title: string, body?: string, priority?: string }} */ (input);
      const device = await ctx.api.devices.get(target.id);
      const about = `${device.displayName ?? device.hostname} (${device.osType} ${device.osVersion ?? ''})`.trim();
      const text = `${body}\n\nDevice: ${about}\nOrganization: ${ctx.org.name}`.trim();
      return ensureTicket(ctx, { title, body: text, priority, reference: ctx.invocationId });
    },

    /** @param {unknown} _input @param {Context} ctx */
    async test(_input, ctx) {
      await request(ctx, ctx.config.testPath);
      return { ok: true, detail: `${new URL(ctx.config.baseUrl).host} answers` };
    },

    /** @param {TicketInput} input @param {Context} ctx */
    createTicket: ({ id, title, body, severity, companyId }, ctx) =>
      ensureTicket(ctx, {
        ...{ title, body, priority: priorityOf(severity, ctx.config), reference: id },
        ...(companyId ? { companyId } : {}),
      }),

    /** @param {TicketChange} input @param {Context} ctx */
    updateTicket({ externalId, status, comment }, ctx) {
      const ended = status === 'resolved' || status === 'closed';
      const shown = ended ? ctx.config.closedStatus : status;
      return changeTicket(ctx, externalId, { ...(shown ? { status: shown } : {}), ...(comment ? { comment } : {}) });
    },

    /** @param {{ externalId: string }} input @param {Context} ctx */
    getTicket: async ({ externalId }, ctx) =>
      ticketOf(await request(ctx, ctx.config.ticketPath.replace('{id}', encodeURIComponent(externalId))), ctx.config),

    /** @param {unknown} _input @param {Context} ctx */
    async listCompanies(_input, ctx) {
      const { config } = ctx;
      const companies = listOf(await request(ctx, config.companiesPath), config).flatMap((one) => {
        const id = valueAt(one, config.idField);
        const name = valueAt(one, config.nameField);
        return id === undefined || typeof name !== 'string'
          ? []
          : [{ externalId: String(id), name: name.slice(0, 500) }];
      });
      return { companies: companies.slice(0, MOST_COMPANIES) };
    },
  },
});
