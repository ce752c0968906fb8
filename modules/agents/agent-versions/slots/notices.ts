/** What people are told of updates of the agents: those that nobody will try again by themselves. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const permission = 'devices:read';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'agent-versions.update.failed',
      summary: 'An agent could not be updated and is not tried again',
      tell: {
        type: 'device',
        priority: 'normal',
        permission,
        render: (
          { attemptId, component, to, reason, state, over }: Events['agent-versions.update.failed'],
          { device },
          { deviceId },
        ) =>
          over
            ? {
                title: `${device ?? 'A device'} could not be updated to ${to}`,
                message: `${component}: ${reason ?? state}. It is not tried again.`,
                link: `/devices/${deviceId}`,
                metadata: { deviceId, attemptId },
                dedupeKey: `update:${component}:${deviceId}`,
              }
            : null,
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'agent-versions.update.succeeded',
      summary: 'An agent that could not be updated has been',
      settles: ({ component }: Events['agent-versions.update.succeeded'], { deviceId }) =>
        `update:${component}:${deviceId}`,
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'agent-versions.rollout.halted',
      summary: 'A version is not offered any more because updates to it fail',
      tell: {
        type: 'system',
        priority: 'high',
        permission,
        render: ({
          haltId,
          partnerId,
          component,
          version,
          attempts,
          failures,
        }: Events['agent-versions.rollout.halted']) => ({
          title: `${component} ${version} is not offered any more`,
          message: `${failures} of ${attempts} updates to it failed. It is offered again when somebody says so.`,
          link: '/agent-versions',
          metadata: { haltId },
          dedupeKey: `halt:${haltId}`,
          partnerId,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'agent-versions.rollout.resumed',
      summary: 'A version is offered again',
      settles: ({ haltId }: Events['agent-versions.rollout.resumed']) => `halt:${haltId}`,
    },
  }),
];
