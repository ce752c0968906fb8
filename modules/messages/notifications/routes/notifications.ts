/** /notifications: the caller's own notifications. */
import Joi from 'joi';
import { defineRoute, pageOf } from '#core';
import { notificationQuery, notificationShape, readMark, readMarks } from '../models/notification.ts';
import * as inbox from '../services/inbox/notifications.ts';

const access = { permission: null, why: 'the notices are the own ones', apiKey: false };
const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const count = Joi.number().integer().required();

export default [
  defineRoute({
    method: 'GET',
    path: '/notifications',
    summary: 'Lists the own notices, the latest first',
    access,
    query: notificationQuery,
    response: pageOf(notificationShape).keys({
      notifications: Joi.array().items(notificationShape).required().description('The same as data'),
      total: Joi.number().integer(),
      unreadCount: count.description('At most 101'),
      limit: count,
      offset: Joi.number().integer(),
    }),
    errors: ['ORG_ACCESS_DENIED', 'INVALID_CURSOR'],
    handler: (ctx, { query }) => inbox.listNotifications(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/notifications/unread-count',
    summary: 'Counts the own unread notices, up to 100',
    description: 'Has an entity tag: send it as If-None-Match, and be answered 304 while nothing changes.',
    access,
    response: Joi.object({ count }),
    handler: (ctx) => inbox.unreadCount(ctx),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/notifications/read',
    summary: 'Marks some or all of the own notices as read',
    access,
    audit: 'notification.read.mark',
    payload: readMarks,
    response: Joi.object({ updated: count }),
    handler: (ctx, { payload }) => inbox.markNotifications(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/notifications/{id}',
    summary: 'Marks one of the own notices as read or unread',
    access,
    audit: { none: 'everybody marks their own notices all day long; marks of many at once are recorded' },
    params,
    payload: readMark,
    response: Joi.object({ data: notificationShape.required() }),
    handler: (ctx, { params: { id }, payload }) => inbox.markNotification(ctx, id, payload.read),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/notifications/{id}',
    summary: 'Removes one of the own notices',
    access,
    audit: 'notification.delete',
    params,
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { id } }) => inbox.deleteNotification(ctx, id),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/notifications',
    summary: 'Removes all of the own notices, or those that were read',
    access,
    audit: 'notification.delete_all',
    query: Joi.object<{ readOnly: boolean }>({
      readOnly: Joi.boolean().default(false).description('true: only those that have been read'),
    }),
    response: Joi.object({ deleted: count }),
    handler: (ctx, { query: { readOnly } }) => inbox.deleteNotifications(ctx, readOnly),
  }),
];
