/** The snapshots agents send, each with the hash that lets an unchanged one be skipped. */
import Joi from 'joi';
import { named } from '#core';
import { hardwareKeys } from './enrollment.ts';
import { address, amount, label, open, percent, text } from './wire-values.ts';

const snapshot = { snapshotHash: text(128), complete: Joi.boolean() };
const list = (most: number, item: Joi.Schema) => Joi.array().max(most).items(item).required();

export const hardwareBody = named(
  'AgentHardware',
  open({
    ...snapshot,
    ...hardwareKeys,
    osVersion: text(100),
    osBuild: text(100),
  }),
);
export const networkBody = named(
  'AgentNetwork',
  open({
    ...snapshot,
    adapters: list(
      100,
      open({
        name: label(255).required(),
        mac: text(64),
        ipv4: Joi.array().items(address()).max(100),
        ipv6: Joi.array().items(address()).max(100),
        isPrimary: Joi.boolean(),
        publicIp: address(),
      }),
    ),
  }),
);
export const disksBody = named(
  'AgentDisks',
  open({
    ...snapshot,
    disks: list(
      100,
      open({
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
  }),
);
export const softwareBody = named(
  'AgentSoftware',
  open({
    ...snapshot,
    software: list(
      10_000,
      open({
        name: label(500).required(),
        version: text(255),
        vendor: text(255),
        installDate: text(50),
        installLocation: text(2000),
        uninstallString: text(2000),
      }),
    ),
  }),
);
export const servicesBody = named(
  'AgentServices',
  open({
    ...snapshot,
    services: list(
      5000,
      open({
        name: label(255).required(),
        displayName: text(500),
        state: Joi.string().valid('running', 'stopped', 'paused', 'starting', 'stopping', 'unknown').required(),
        startType: Joi.string().valid('auto', 'manual', 'disabled', 'auto_delayed'),
      }),
    ),
  }),
);
export const submitted = named('AgentReportTaken', Joi.object({ changed: Joi.boolean().required() }));
