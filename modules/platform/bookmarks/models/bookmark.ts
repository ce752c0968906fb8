/** A bookmark on a device. */
import Joi from 'joi';
import { column, defineTable, named } from '#core';

const bookmarks = defineTable('bookmarks', {
  id: column.uuid(),
  orgId: column.uuid(),
  deviceId: column.uuid(),
  text: column.text(Joi.string().trim().min(1).max(2000)),
  createdAt: column.time(),
});

export class Bookmark extends bookmarks.Model {
  static override deviceColumn = 'device_id';
}

export const bookmarkCreate = named('BookmarkCreate', bookmarks.input(['text'], { required: ['text'] }));
export const bookmarkshape = named('Bookmark', bookmarks.answer());
