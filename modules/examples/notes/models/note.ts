/** A note on a device. */
import Joi from 'joi';
import { column, defineTable, named } from '#core';

const notes = defineTable('notes', {
  id: column.uuid(),
  orgId: column.uuid(),
  deviceId: column.uuid(),
  text: column.text(Joi.string().trim().min(1).max(2000)),
  createdAt: column.time(),
});

export class Note extends notes.Model {
  static override deviceColumn = 'device_id';
}

export const noteCreate = named('NoteCreate', notes.input(['text'], { required: ['text'] }));
export const noteShape = named('Note', notes.answer());
