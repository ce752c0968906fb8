/** The filter of a group could not be evaluated three times in a row; the members of the group stay as they were. */
import Joi from 'joi';
import { defineEvent } from '#core';

interface EvaluationFailed {
  groupId: string;
  name: string;
  error: string;
}

export default defineEvent({
  summary: 'The filter of a group could not be evaluated',
  data: Joi.object<EvaluationFailed>({
    groupId: Joi.string().uuid().required(),
    name: Joi.string().required(),
    error: Joi.string().required(),
  }),
  example: {
    groupId: '7c9e6679-7425-40de-944b-000000000001',
    name: 'Servers',
    error: 'The conditions take too long to evaluate',
  },
  webhook: { kind: 'group.evaluation_failed' },
  notice: {
    summary: 'The filter of a group cannot be evaluated',
    tell: {
      type: 'system',
      priority: 'normal',
      permission: 'devices:read',
      render: ({ groupId, name, error }) => ({
        title: `The group ${name} is not up to date`,
        message: `Its filter could not be evaluated: ${error}`,
        link: `/groups/${groupId}`,
        metadata: { groupId },
        dedupeKey: `group-filter:${groupId}`,
      }),
    },
  },
});
