/** The bodies of inventory snapshots. */
import Joi from 'joi';
import {
  type DiskUsage,
  MAX_ADAPTERS,
  MAX_DISKS,
  MAX_SERVICES,
  MAX_SOFTWARE,
  type NetworkAdapter,
  SERVICE_START_TYPES,
  SERVICE_STATES,
  type ServiceItem,
  type Snapshots,
  type SoftwareItem,
} from '../inventory.ts';
import { hardwareKeys } from './enrollment.ts';
import { address, amount, label, open, percent, text } from './values.ts';

export const snapshotKeys = { snapshotHash: text(128), complete: Joi.boolean() };
const list = (max: number, item: Joi.Schema) => Joi.array().max(max).items(item).required();

export const hardwareBody = open<Snapshots['hardware']>({
  ...snapshotKeys,
  ...hardwareKeys,
  osVersion: text(100),
  osBuild: text(100),
});
export const networkBody = open<Snapshots['network']>({
  ...snapshotKeys,
  adapters: list(
    MAX_ADAPTERS,
    open<NetworkAdapter>({
      name: label(255).required(),
      mac: text(64),
      ipv4: Joi.array().items(address()).max(100),
      ipv6: Joi.array().items(address()).max(100),
      isPrimary: Joi.boolean(),
      publicIp: address(),
    }),
  ),
});
export const disksBody = open<Snapshots['disks']>({
  ...snapshotKeys,
  disks: list(
    MAX_DISKS,
    open<DiskUsage>({
      mountPoint: label(1024).required(),
      device: text(255),
      fsType: text(50),
      totalGb: amount(),
      usedGb: amount(),
      freeGb: amount(),
      usedPercent: percent(),
      health: text(50),
    }),
  ),
});
export const softwareBody = open<Snapshots['software']>({
  ...snapshotKeys,
  software: list(
    MAX_SOFTWARE,
    open<SoftwareItem>({
      name: label(500).required(),
      version: text(255),
      vendor: text(255),
      installDate: text(50),
      installLocation: text(2000),
      uninstallString: text(2000),
    }),
  ),
});
export const servicesBody = open<Snapshots['services']>({
  ...snapshotKeys,
  services: list(
    MAX_SERVICES,
    open<ServiceItem>({
      name: label(255).required(),
      displayName: text(500),
      state: Joi.string()
        .valid(...SERVICE_STATES)
        .required(),
      startType: Joi.string().valid(...SERVICE_START_TYPES),
    }),
  ),
});
export const submitted = Joi.object({ changed: Joi.boolean().required() });
