/** Devices: inventory, lifecycle, heartbeats and commands. */
import Joi from 'joi';
import { type Context, defineModule } from '#core';
import type { DevicesApi } from './api.ts';
import { checkedTags, tagKey } from './models/tag.ts';
import { beat } from './services/beats.ts';
import { claimCommands } from './services/claims.ts';
import * as connections from './services/connections.ts';
import { listPage } from './services/device-pages.ts';
import { mustExist } from './services/devices.ts';
import { enroll } from './services/enrollments.ts';
import { identify } from './services/identities.ts';
import * as inventories from './services/inventories.ts';
import { takeProvision } from './services/provisions.ts';
import { suspectDevice } from './services/quarantines.ts';
import { queueCommand } from './services/queue.ts';
import { finishCommand, startCommand } from './services/results.ts';
import { changeTags, renameTag } from './services/tags.ts';

const api = (ctx: Context): DevicesApi => ({
  enroll: (input) => enroll(ctx, input),
  takeProvision: (token, osType) => takeProvision(ctx, token, osType),
  quarantine: (deviceId, reason) => suspectDevice(ctx, deviceId, reason),
  beat: (input) => beat(ctx, input),
  claimCommands: (deviceId, role) => claimCommands(ctx, deviceId, role),
  pushCommands: (deviceId, role, epoch) => connections.pushCommands(ctx, deviceId, role, epoch),
  releaseCommands: (deviceId, sent) => connections.releaseCommands(ctx, deviceId, sent),
  reclaimCommands: (deviceId, role, epoch) => connections.reclaimCommands(ctx, deviceId, role, epoch),
  beginCommand: (deviceId, role, commandId) => connections.beginCommand(ctx, deviceId, role, commandId),
  noteProgress: (deviceId, progress) => connections.noteProgress(ctx, deviceId, progress),
  beginUpdate: (deviceId, targetVersion) => connections.beginUpdate(ctx, deviceId, targetVersion),
  startCommand: (deviceId, commandId) => startCommand(ctx, deviceId, commandId),
  finishCommand: (deviceId, commandId, role, result) => finishCommand(ctx, deviceId, commandId, role, result),
  submitHardware: (deviceId, body) => inventories.submitHardware(ctx, deviceId, body),
  submitNetwork: (deviceId, body) => inventories.submitNetwork(ctx, deviceId, body),
  submitDisks: (deviceId, body) => inventories.submitDisks(ctx, deviceId, body),
  submitSoftware: (deviceId, body) => inventories.submitSoftware(ctx, deviceId, body),
  submitServices: (deviceId, body) => inventories.submitServices(ctx, deviceId, body),
  identify: (deviceIds) => identify(ctx, deviceIds),
  mustExist: (id) => mustExist(ctx, id),
  queueCommand: (deviceId, command) => queueCommand(ctx, deviceId, command),
  listPage: (query, narrow) => listPage(ctx, query, narrow),
  tagKey,
  checkedTags,
  changeTags: (deviceIds, change) => changeTags(ctx, deviceIds, change),
  renameTag: (orgId, from, to) => renameTag(ctx, orgId, from, to),
});

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
    'device.custom_fields.update',
    'device.delete',
    'device.restore',
    'device.quarantine',
    'device.approve',
    'device.merge',
    'device.move_org.source',
    'device.move_org.target',
    'device.maintenance.start',
    'device.maintenance.end',
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
    'devices.provisioned',
    'devices.quarantined',
    'devices.approved',
    'devices.moved',
    'devices.merged',
    'devices.purged',
    'devices.maintenance.started',
    'devices.maintenance.ended',
    'devices.software.changed',
    'devices.command.finished',
  ],
  slots: [
    ...['devices.detail', 'devices.values', 'devices.filter', 'devices.groups', 'devices.follower', 'devices.guard'],
  ],
  settings: Joi.object({
    reenroll: Joi.string().valid('new', 'reattach').default('new'),
    offlineAfterMinutes: Joi.number().integer().min(3).max(60),
    approveEnrollments: Joi.boolean().default(false),
  }),
  api,
});
