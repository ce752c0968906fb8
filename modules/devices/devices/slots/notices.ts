/** What people are told of devices: what wants somebody to act. That one went offline is for rules of alerts to say. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const permission = 'devices:read';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'devices.quarantined',
      summary: 'A device waits for approval',
      tell: {
        type: 'device',
        priority: 'high',
        permission: 'devices:write',
        render: ({ hostname, reason }: Events['devices.quarantined'], { device }, { deviceId }) => ({
          title: `${device ?? hostname} waits for approval`,
          message: reason,
          link: `/devices/${deviceId}`,
          metadata: { deviceId },
          dedupeKey: `quarantine:${deviceId}`,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'devices.approved',
      summary: 'A device that waited for approval was approved',
      settles: (_data: Events['devices.approved'], { deviceId }) => `quarantine:${deviceId}`,
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'devices.enrolled',
      summary: 'A device that was enrolled may be a clone of another',
      tell: {
        type: 'security',
        priority: 'high',
        permission,
        render: ({ hostname, cloneSuspected }: Events['devices.enrolled'], { device }, { deviceId }) =>
          cloneSuspected
            ? {
                title: `${device ?? hostname} may be a clone`,
                message: 'It says that it is a machine which was seen within a day as another device.',
                link: `/devices/${deviceId}`,
                metadata: { deviceId },
                dedupeKey: `clone:${deviceId}`,
              }
            : null,
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'devices.outage',
      summary: 'Many devices of an organization went silent at once',
      tell: {
        type: 'device',
        priority: 'urgent',
        permission,
        render: ({ offline, of }: Events['devices.outage'], { organization }, { orgId }) => ({
          title: `${offline} of ${of} devices went silent`,
          message: `Probably an outage${organization ? ` at ${organization}` : ''}: they all stopped at about the same time.`,
          link: `/devices?orgId=${orgId}&status=offline`,
          metadata: { offline, of },
          dedupeKey: `outage:${orgId}`,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'devices.main_agent_silent',
      summary: 'Only the watchdog of a device is heard',
      tell: {
        type: 'device',
        priority: 'normal',
        permission,
        render: ({ hostname }: Events['devices.main_agent_silent'], { device }, { deviceId }) => ({
          title: `The agent of ${device ?? hostname} is silent`,
          message: 'Its watchdog is still heard, so the device is on.',
          link: `/devices/${deviceId}`,
          metadata: { deviceId },
          dedupeKey: `agent-silent:${deviceId}`,
        }),
      },
    },
  }),
];
