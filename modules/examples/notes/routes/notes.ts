/** /devices/{deviceId}/notes: listing, adding and deleting notes. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { noteCreate, noteShape } from '../models/note.ts';
import { addNote, deleteNote, listNotes } from '../services/notes.ts';

const id = Joi.string().uuid().required();
const ofDevice = Joi.object<{ deviceId: string }>({ deviceId: id });

export default [
  defineRoute({
    method: 'GET',
    path: '/devices/{deviceId}/notes',
    summary: 'Lists the notes on a device, newest first',
    access: { permission: 'devices:read' },
    params: ofDevice,
    query: Joi.object<PageQuery>(pageQuery()),
    response: pageOf(noteShape),
    handler: (ctx, { params: { deviceId }, query }) => listNotes(ctx, deviceId, query),
  }),
  defineRoute({
    method: 'POST',
    path: '/devices/{deviceId}/notes',
    summary: 'Adds a note to a device',
    access: { permission: 'devices:write' },
    audit: 'note.create',
    params: ofDevice,
    payload: noteCreate,
    response: noteShape,
    status: 201,
    errors: ['NOTE_LIMIT_REACHED'],
    handler: (ctx, { params: { deviceId }, payload: { text } }) => addNote(ctx, deviceId, text),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/devices/{deviceId}/notes/{noteId}',
    summary: 'Deletes a note',
    access: { permission: 'devices:write' },
    audit: 'note.delete',
    params: Joi.object<{ deviceId: string; noteId: string }>({ deviceId: id, noteId: id }),
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { deviceId, noteId } }) => deleteNote(ctx, deviceId, noteId),
  }),
];
