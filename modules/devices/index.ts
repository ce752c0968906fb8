/** Devices: inventory, lifecycle, heartbeats and commands. */
import Joi from 'joi';
import { defineModule } from '#core';
import './api.ts';

export default defineModule({
  name: 'devices',
  title: 'Devices',
  summary: 'Inventory, lifecycle, heartbeats and commands of managed machines',
  requires: ['tenancy'],
  core: true,
  permissions: ['devices:read', 'devices:write', 'devices:delete', 'devices:execute', 'scripts:execute'],
  audits: [
    'device.create',
    'device.update',
    'device.delete',
    'device.restore',
    'device.auto_update.set',
    'device.command.queue',
    'device.command.cancel',
    'script.execute',
    'agent.command.result.submit',
    'agent.heartbeat.state_change',
    'agent.source.ip.changed',
  ],
  events: [
    'devices.enrolled',
    'devices.online',
    'devices.offline',
    'devices.outage',
    'devices.main_agent_silent',
    'devices.updated',
    'devices.decommissioned',
    'devices.restored',
    'devices.software.changed',
    'devices.command.finished',
  ],
  slots: ['devices.detail'],
  settings: Joi.object({
    reenroll: Joi.string().valid('new', 'reattach').default('new'),
    offlineAfterMinutes: Joi.number().integer().min(3).max(60).default(5),
  }),
});
