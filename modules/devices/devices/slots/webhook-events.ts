/** Webhook events about devices. */
import Joi from 'joi';
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const count = Joi.number().integer().min(0).required();

export default [
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.provisioned',
      kind: 'device.provisioned',
      summary: 'A device was made before its agent enrolled',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.provisioned']) => ({ hostname }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.enrolled',
      kind: 'device.enrolled',
      summary: 'A device was enrolled',
      shape: Joi.object({
        hostname: Joi.string().required(),
        via: Joi.string()
          .required()
          .description('How: `key`, `token` of the device before it, `provisioned`, `reattach`'),
        possibleReplacementOf: Joi.string().uuid().allow(null).required().description('A device that it may be'),
        cloneSuspected: Joi.boolean().required().description('That device has been seen within a day'),
      }),
      example: { hostname: 'WS-0142', via: 'key', possibleReplacementOf: null, cloneSuspected: false },
      snapshot: ({ hostname, via, possibleReplacementOf, cloneSuspected }: Events['devices.enrolled']) => ({
        hostname,
        via,
        possibleReplacementOf,
        cloneSuspected,
      }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.quarantined',
      kind: 'device.quarantined',
      summary: 'A device waits for approval',
      shape: Joi.object({ hostname: Joi.string().required(), reason: Joi.string().required() }),
      example: { hostname: 'WS-0142', reason: 'approval_required' },
      snapshot: ({ hostname, reason }: Events['devices.quarantined']) => ({ hostname, reason }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.approved',
      kind: 'device.approved',
      summary: 'A device was approved',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.approved']) => ({ hostname }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.online',
      kind: 'device.online',
      summary: 'A device came online',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.online']) => ({ hostname }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.offline',
      kind: 'device.offline',
      summary: 'A device went offline',
      shape: Joi.object({ hostname: Joi.string().required(), lastSeenAt: Joi.string().isoDate().required() }),
      example: { hostname: 'WS-0142', lastSeenAt: '2026-11-02T09:30:00.000Z' },
      snapshot: ({ hostname, lastSeenAt }: Events['devices.offline']) => ({ hostname, lastSeenAt }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.outage',
      kind: 'device.outage',
      summary: 'Many devices of an organization went silent at once',
      shape: Joi.object({
        offline: count.description('Devices that went silent'),
        of: count.description('Devices there are'),
      }),
      example: { offline: 12, of: 20 },
      snapshot: ({ offline, of }: Events['devices.outage']) => ({ offline, of }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.main_agent_silent',
      kind: 'device.main_agent_silent',
      summary: 'Only the watchdog of a device is heard',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.main_agent_silent']) => ({ hostname }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.updated',
      kind: 'device.updated',
      summary: 'Fields of a device changed',
      shape: Joi.object({ changedFields: Joi.array().items(Joi.string()).required() }),
      example: { changedFields: ['displayName'] },
      snapshot: ({ changedFields }: Events['devices.updated']) => ({ changedFields }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.moved',
      kind: 'device.moved',
      summary: 'A device left or joined an organization or site',
      shape: Joi.object({
        hostname: Joi.string().required(),
        direction: Joi.string().valid('out', 'in').required().description('Both organizations are told'),
      }),
      example: { hostname: 'WS-0142', direction: 'out' },
      snapshot: ({ hostname, direction }: Events['devices.moved']) => ({ hostname, direction }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.merged',
      kind: 'device.merged',
      summary: 'Two devices turned out to be one',
      shape: Joi.object({
        hostname: Joi.string().required(),
        mergedDeviceId: Joi.string()
          .uuid()
          .required()
          .description('The device that is gone; deviceId is the one that stays'),
      }),
      example: { hostname: 'WS-0142', mergedDeviceId: '7c9e6679-7425-40de-944b-000000000002' },
      snapshot: ({ hostname, mergedDeviceId }: Events['devices.merged']) => ({ hostname, mergedDeviceId }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.decommissioned',
      kind: 'device.decommissioned',
      summary: 'A device was decommissioned',
      shape: Joi.object({
        hostname: Joi.string().required(),
        uninstall: Joi.boolean().required().description('Whether the agent removes itself'),
      }),
      example: { hostname: 'WS-0142', uninstall: true },
      snapshot: ({ hostname, uninstall }: Events['devices.decommissioned']) => ({ hostname, uninstall }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.restored',
      kind: 'device.restored',
      summary: 'A decommissioned device was restored',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.restored']) => ({ hostname }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.purged',
      kind: 'device.purged',
      summary: 'A device and its data are gone',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.purged']) => ({ hostname }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.software.changed',
      kind: 'device.software_changed',
      summary: 'The installed software of a device changed',
      shape: Joi.object({ added: count, removed: count }),
      example: { added: 3, removed: 1 },
      snapshot: ({ added, removed }: Events['devices.software.changed']) => ({ added, removed }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.maintenance.started',
      kind: 'maintenance.started',
      summary: 'A device went into maintenance',
      shape: Joi.object({ hostname: Joi.string().required(), until: Joi.string().isoDate().required() }),
      example: { hostname: 'WS-0142', until: '2026-11-02T10:30:00.000Z' },
      snapshot: ({ hostname, until }: Events['devices.maintenance.started']) => ({ hostname, until }),
    },
  }),
  defineFilling({
    slot: 'webhooks.event',
    value: {
      event: 'devices.maintenance.ended',
      kind: 'maintenance.ended',
      summary: 'A device left maintenance',
      shape: Joi.object({ hostname: Joi.string().required() }),
      example: { hostname: 'WS-0142' },
      snapshot: ({ hostname }: Events['devices.maintenance.ended']) => ({ hostname }),
    },
  }),
];
