/** Devices: inventory, lifecycle and heartbeats. */
import Joi from 'joi';
import { type Context, defineModule } from '#core';
import type { DevicesApi } from './api.ts';
import './types/events.ts';
import { bulkValues, bulkValuesAnswer } from './models/bulk-values.ts';
import { deviceDetail, deviceListed, deviceUpdate } from './models/device.ts';
import { changeShape } from './models/device-change.ts';
import { reportShape, serviceShape, softwareShape } from './models/inventory.ts';
import { maintenanceOrder } from './models/maintenance-mode.ts';
import { provisioned, provisionOrder } from './models/provision.ts';
import { mergeOrder, moveOrder } from './models/relocation.ts';
import { checkedTags, tagKey } from './models/tag.ts';
import { confirmAutoUpdate, wishAutoUpdate } from './services/auto-updates.ts';
import { isOnline, mustExist } from './services/devices.ts';
import { heartbeat } from './services/heartbeats/heartbeats.ts';
import { beginUpdate, endUpdate } from './services/heartbeats/updates.ts';
import { hold, holdMany } from './services/holds.ts';
import { writeAgentValues } from './services/inventory/custom-values.ts';
import * as inventories from './services/inventory/inventories.ts';
import { findNeighbour, readAddresses } from './services/inventory/network-addresses.ts';
import { noteAddresses, submitReport } from './services/inventory/reports.ts';
import { enroll } from './services/life/enrollments.ts';
import { identify } from './services/life/identities.ts';
import { takeProvision } from './services/life/provisions.ts';
import { suspectDevice } from './services/life/quarantines.ts';
import { countDevices } from './services/life/quotas.ts';
import { confirmUninstall, noteUninstallIntent } from './services/life/uninstalls.ts';
import { listPage } from './services/lists/device-pages.ts';
import { changeTags, renameTag } from './services/tags.ts';

const api = (ctx: Context): DevicesApi => ({
  enroll: (input) => enroll(ctx, input),
  takeProvision: (token, osType) => takeProvision(ctx, token, osType),
  quarantine: (deviceId, reason) => suspectDevice(ctx, deviceId, reason),
  heartbeat: (input) => heartbeat(ctx, input),
  isOnline: (deviceId) => isOnline(ctx, deviceId),
  beginUpdate: (deviceId, targetVersion) => beginUpdate(ctx, deviceId, targetVersion),
  endUpdate: (deviceId, targetVersion) => endUpdate(ctx, deviceId, targetVersion),
  submitHardware: (deviceId, body) => inventories.submitHardware(ctx, deviceId, body),
  submitNetwork: (deviceId, body) => inventories.submitNetwork(ctx, deviceId, body),
  submitDisks: (deviceId, body) => inventories.submitDisks(ctx, deviceId, body),
  submitSoftware: (deviceId, body) => inventories.submitSoftware(ctx, deviceId, body),
  submitServices: (deviceId, body) => inventories.submitServices(ctx, deviceId, body),
  submitReport: (deviceId, report) => submitReport(ctx, deviceId, report),
  noteAddresses: (deviceId, addresses) => noteAddresses(ctx, deviceId, addresses),
  writeAgentValues: (deviceId, values) => writeAgentValues(ctx, deviceId, values),
  identify: (deviceIds) => identify(ctx, deviceIds),
  wishAutoUpdate: (deviceIds, enabled) => wishAutoUpdate(ctx, deviceIds, enabled),
  confirmAutoUpdate: (deviceId, enabled) => confirmAutoUpdate(ctx, deviceId, enabled),
  readAddresses: (deviceId) => readAddresses(ctx, deviceId),
  findNeighbour: (device, subnets) => findNeighbour(ctx, device, subnets),
  mustExist: (id) => mustExist(ctx, id),
  hold: (id, strength) => hold(ctx, id, strength),
  holdMany: (ids, strength) => holdMany(ctx, ids, strength),
  noteUninstallIntent: (deviceId) => noteUninstallIntent(ctx, deviceId),
  confirmUninstall: (deviceId) => confirmUninstall(ctx, deviceId),
  countDevices: (orgIds) => countDevices(ctx, orgIds),
  listPage: (query, narrow) => listPage(ctx, query, narrow),
  tagKey,
  checkedTags,
  changeTags: (deviceIds, change) => changeTags(ctx, deviceIds, change),
  renameTag: (orgId, from, to) => renameTag(ctx, orgId, from, to),
});

export default defineModule({
  name: 'devices',
  title: 'Devices',
  summary: 'Inventory, lifecycle and heartbeats of managed machines',
  requires: ['tenancy'],
  core: true,
  permissions: ['devices:read', 'devices:write', 'devices:delete'],
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
    'agent.heartbeat.state_change',
    'agent.source.ip.changed',
    'agent.uninstall.intent',
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
  ],
  slots: [
    'devices.commands',
    'devices.detail',
    'devices.filter',
    'devices.follower',
    'devices.groups',
    'devices.metrics',
    'devices.values',
  ],
  // Rows about devices follow them whether or not the module that owns the rows is enabled.
  steadySlots: ['devices.follower'],
  settings: Joi.object({
    reenroll: Joi.string().valid('new', 'reattach').default('new'),
    offlineAfterMinutes: Joi.number().integer().min(3).max(60),
    approveEnrollments: Joi.boolean().default(false),
    autoDecommissionOnUninstall: Joi.boolean().default(false),
  }),
  schemas: {
    BulkCustomFields: bulkValues,
    BulkCustomFieldsResult: bulkValuesAnswer,
    Device: deviceDetail,
    DeviceChange: changeShape,
    DeviceListed: deviceListed,
    DeviceMerge: mergeOrder,
    DeviceMove: moveOrder,
    DeviceProvision: provisionOrder,
    DeviceProvisioned: provisioned,
    DeviceReports: reportShape,
    DeviceService: serviceShape,
    DeviceSoftware: softwareShape,
    DeviceUpdate: deviceUpdate,
    MaintenanceStart: maintenanceOrder,
  },
  api,
});
