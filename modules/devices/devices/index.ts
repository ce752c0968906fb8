/** Devices: inventory, lifecycle and heartbeats. */
import Joi from 'joi';
import { defineModule } from '#core';
import { api } from './api.ts';

export default defineModule({
  name: 'devices',
  title: 'Devices',
  summary: 'Inventory, lifecycle and heartbeats of managed machines',
  requires: ['tenancy'],
  core: true,
  auditOnly: [
    ...['device.move_org.source', 'agent.heartbeat.state_change', 'agent.source.ip.changed', 'agent.uninstall.intent'],
  ],
  settings: Joi.object({
    reenroll: Joi.string().valid('new', 'reattach').default('new'),
    offlineAfterMinutes: Joi.number().integer().min(3).max(60),
    approveEnrollments: Joi.boolean().default(false),
    autoDecommissionOnUninstall: Joi.boolean().default(false),
    clearTagsOnMove: Joi.boolean().default(false),
  }),
  api,
});
