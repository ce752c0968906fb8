/** Event logs and events, as live tools return them. */
import Joi from 'joi';
import { EVENT_ITEM_LEVELS, type EventDetail, type EventItem, type EventLogItem } from '../../tools/event-logs.ts';
import { optionalText } from './results.ts';

const number = Joi.number().integer().allow(null).required();

export const eventLogShape = Joi.object<EventLogItem>({
  name: Joi.string().required(),
  displayName: Joi.string().allow('').required(),
  recordCount: number,
  maxSize: number.description('Bytes'),
  retentionDays: number,
  lastWriteTime: Joi.string().allow(null).required(),
});
export const eventItem = Joi.object<EventItem>({
  recordId: Joi.string().required(),
  timestamp: Joi.string().required(),
  level: Joi.string()
    .valid(...EVENT_ITEM_LEVELS)
    .required(),
  source: Joi.string().allow('').required(),
  category: Joi.string().allow('', null),
  eventId: optionalText(),
  message: Joi.string().allow('').required(),
  computer: optionalText(),
  user: optionalText(),
});
export const eventItemDetail = eventItem.append<EventDetail>({
  details: Joi.object().pattern(Joi.string(), Joi.string().allow('')).required(),
});
