/** /devices/{deviceId}/bookmarks: listing, adding and deleting bookmarks. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { bookmarkCreate, bookmarkshape } from '../models/bookmark.ts';
import { addBookmark, deleteBookmark, listBookmarks } from '../services/bookmarks.ts';

const id = Joi.string().uuid().required();
const ofDevice = Joi.object<{ deviceId: string }>({ deviceId: id });

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{deviceId}/bookmarks',
    summary: 'Lists the bookmarks on a device, newest first',
    access: { permission: 'devices:read' },
    params: ofDevice,
    query: Joi.object<PageQuery>(pageQuery()),
    response: pageOf(bookmarkshape),
    handler: (ctx, { params: { deviceId }, query }) => listBookmarks(ctx, deviceId, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{deviceId}/bookmarks',
    summary: 'Adds a bookmark to a device',
    access: { permission: 'devices:write' },
    audit: 'bookmark.create',
    params: ofDevice,
    payload: bookmarkCreate,
    response: bookmarkshape,
    status: 201,
    errors: ['BOOKMARK_LIMIT_REACHED'],
    handler: (ctx, { params: { deviceId }, payload: { text } }) => addBookmark(ctx, deviceId, text),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/devices/{deviceId}/bookmarks/{bookmarkId}',
    summary: 'Deletes a bookmark',
    access: { permission: 'devices:write' },
    audit: 'bookmark.delete',
    params: Joi.object<{ deviceId: string; bookmarkId: string }>({ deviceId: id, bookmarkId: id }),
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { deviceId, bookmarkId } }) => deleteBookmark(ctx, deviceId, bookmarkId),
  }),
];
