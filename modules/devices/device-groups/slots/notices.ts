/** What people are told of device groups. */
import { defineFilling } from '#core';
import type { Events } from '#core/contract';

const permission = 'devices:read';

export default [
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'device-groups.mass_change',
      summary: 'More than half of a group left by itself',
      tell: {
        type: 'device',
        priority: 'high',
        permission,
        render: ({ groupId, name, removed, of }: Events['device-groups.mass_change']) => ({
          title: `${removed} of ${of} devices left the group ${name}`,
          message: 'They do not match its filter any more. What applies to the group does not apply to them.',
          link: `/groups/${groupId}`,
          metadata: { groupId },
          dedupeKey: `group:${groupId}`,
        }),
      },
    },
  }),
  defineFilling({
    slot: 'notifications.notice',
    value: {
      event: 'device-groups.evaluation.failed',
      summary: 'The filter of a group cannot be evaluated',
      tell: {
        type: 'system',
        priority: 'normal',
        permission,
        render: ({ groupId, name, error }: Events['device-groups.evaluation.failed']) => ({
          title: `The group ${name} is not up to date`,
          message: `Its filter could not be evaluated: ${error}`,
          link: `/groups/${groupId}`,
          metadata: { groupId },
          dedupeKey: `group-filter:${groupId}`,
        }),
      },
    },
  }),
];
