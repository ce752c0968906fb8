/** More than half of a dynamic group was removed by its filter, after the removal had been held back for one evaluation cycle. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface MassChange {
  groupId: string;
  name: string;
  removed: number;
  of: number;
}

export default defineEvent({
  summary: 'The filter of a group removed more than half of its members',
  data: Joi.object<MassChange>({
    groupId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    removed: Joi.number().integer().required(),
    of: Joi.number().integer().required(),
  }),
  example: { groupId: '7c9e6679-7425-40de-944b-000000000001', name: 'Servers', removed: 8, of: 12 },
  webhook: { kind: 'group.mass_change' },
  notice: {
    tell: {
      type: 'device',
      priority: 'high',
      permission: 'devices:read',
      render: ({ groupId, name, removed, of }) => ({
        title: `${removed} of ${of} devices left the group ${name}`,
        message: 'They do not match its filter any more. What applies to the group does not apply to them.',
        link: `/groups/${groupId}`,
        metadata: { groupId },
        dedupeKey: `group:${groupId}`,
      }),
    },
  },
});
