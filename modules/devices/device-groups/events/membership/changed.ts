/**
 * Devices joined or left a group: at most 1000 of each in one event, so a larger change is several events. Not emitted for
 * devices that were moved to another organization or purged.
 */
import Joi from 'joi';
import { defineEvent } from '#core';

interface MembershipChanged {
  groupId: string;
  evaluationId: string | null;
  added: string[];
  removed: string[];
}

const deviceIds = Joi.array().items(Joi.string().uuid()).max(1000).required().description('Ids of devices');

export default defineEvent({
  summary: 'Devices joined or left a group',
  data: Joi.object<MembershipChanged>({
    groupId: Joi.string().uuid().required(),
    evaluationId: Joi.string()
      .uuid()
      .allow(null)
      .required()
      .description('The evaluation of the filter; null when a user or an API key changed the members'),
    added: deviceIds,
    removed: deviceIds,
  }),
  example: {
    groupId: '7c9e6679-7425-40de-944b-000000000001',
    evaluationId: null,
    added: ['7c9e6679-7425-40de-944b-000000000002'],
    removed: [],
  },
  webhook: { kind: 'group.membership_changed' },
});
