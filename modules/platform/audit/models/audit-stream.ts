/** What a follower of the trail may ask for. */
import Joi from 'joi';
import { orgFilter } from './audit-log.ts';

const position = Joi.string().pattern(/^\d{1,15}$/);

export interface StreamQuery {
  orgId?: string;
  lastEventId?: string;
}
export const streamQuery = Joi.object<StreamQuery>({
  orgId: orgFilter,
  lastEventId: position.description(
    'Instead of the header Last-Event-ID, which wins; 0 begins with the oldest entry. Without either only new ones come',
  ),
});
