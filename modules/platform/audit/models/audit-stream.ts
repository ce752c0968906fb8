/** The query of the audit stream. */
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
    'Alternative to the header Last-Event-ID, which takes precedence; 0 starts with the oldest entry. Without either only new entries are sent',
  ),
});
