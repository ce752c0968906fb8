/** A notification in the inbox of a user. */
import Joi from 'joi';
import { Model, named, type PageQuery, pageQuery } from '#core';
import { type NoticeType, PRIORITIES, type Priority, TYPES } from './notice.ts';

export class Notification extends Model {
  static override tableName = 'user_notifications';
  static override partnerOwned = true;
  static override siteColumn = 'site_id';
  static override deviceColumn = 'device_id';
  declare id: string;
  declare userId: string;
  declare orgId: string | null;
  declare partnerId: string | null;
  declare deviceId: string | null;
  declare type: NoticeType;
  declare priority: Priority;
  declare title: string;
  declare message: string;
  declare link: string | null;
  declare metadata: Record<string, unknown>;
  declare dedupeKey: string | null;
  declare count: number;
  declare read: boolean;
  declare readAt: Date | null;
  declare inApp: boolean;
  declare createdAt: Date;
  declare lastOccurredAt: Date;
  declare expiresAt: Date;
}

export interface NotificationQuery extends PageQuery {
  offset?: number;
  unreadOnly: boolean;
  type?: NoticeType;
  priority?: Priority;
  orgId?: string;
}
export interface ReadMark {
  read: boolean;
}
export interface ReadMarks {
  ids?: string[];
  all?: true;
  before?: Date;
}

export const typeName = Joi.string().valid(...TYPES);
export const priorityName = Joi.string().valid(...PRIORITIES);

export const notificationQuery = Joi.object<NotificationQuery>({
  ...pageQuery(100),
  offset: Joi.number().integer().min(0).max(1_000_000).description('Rows to pass over, in place of a page'),
  unreadOnly: Joi.boolean().default(false).description('true: only notices that have not been read'),
  type: typeName.description('Only notices of this type'),
  priority: priorityName.description('Only of this priority'),
  orgId: Joi.string().uuid(),
}).oxor('offset', 'page', 'cursor');
export const readMark = Joi.object<ReadMark, true>({ read: Joi.boolean().required() });
export const readMarks = Joi.object<ReadMarks, true>({
  ids: Joi.array().items(Joi.string().uuid()).min(1).max(500).unique(),
  all: Joi.boolean().valid(true),
  before: Joi.date().iso().description('With all: only what came until then'),
})
  .xor('ids', 'all')
  .with('before', 'all');

export function showNotification(row: Notification) {
  const { userId: _user, inApp: _inApp, ...shown } = row as Notification & { eventId?: string; siteId?: string };
  const { eventId: _event, ...rest } = shown;
  return rest;
}

const time = Joi.date().iso().required();
const text = Joi.string().allow(null).required();
export const notificationShape = named(
  'Notification',
  Joi.object({
    id: Joi.string().uuid().required(),
    orgId: text,
    partnerId: text,
    siteId: text,
    deviceId: text,
    type: typeName.required(),
    priority: priorityName.required(),
    title: Joi.string().required(),
    message: Joi.string().allow('').required(),
    link: text.description('A path within the console'),
    metadata: Joi.object().unknown().required(),
    dedupeKey: text,
    count: Joi.number().integer().required().description('How often it happened while this notice was unread'),
    read: Joi.boolean().required(),
    readAt: Joi.date().iso().allow(null).required(),
    createdAt: time,
    lastOccurredAt: time,
    expiresAt: time,
  }),
);
