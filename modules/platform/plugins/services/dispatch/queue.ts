/** The queue of work for plugins: what a message is, and what follows from results. core/delivery sends from it. */
import { defineDelivery } from '#core';
import { RETRY_SECONDS } from '#plugin-sdk/host';
import { variables } from '../../variables.ts';
import { hostOf } from '../running/host.ts';
import { concludeResults } from './conclusions.ts';
import { type Details, type Message, send } from './sender.ts';

export const pluginQueue = defineDelivery<Message, Details>({
  name: 'plugins',
  table: 'plugin_queue',
  partition: ['installation_id', 'org_id'],
  limits: {
    perPartition: 4,
    perProcess: (config) => variables.of(config).maxProcesses * 2,
    // Longer than the longest call with its grace period.
    leaseSeconds: 45,
  },
  retryDelays: RETRY_SECONDS,
  receiver: {
    table: 'plugin_installations',
    open: `r.enabled and r.status = 'installed'`,
  },
  message: {
    columns: `q.installation_id as "installationId", q.org_id as "orgId", r.partner_id as "partnerId", q.kind, q.key, q.body, q.causation`,
  },
  send: ({ services }, message) => send(hostOf(services), message),
  afterResults: (start, results) => concludeResults(hostOf(start.services), results),
});
