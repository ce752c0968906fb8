/** Notes: listing, adding, deleting and finding them. */
import { type Context, errors, type PageQuery, page, type SortKey } from '#core';
import { NoteLimit } from '../errors.ts';
import added from '../events/added.ts';
import { Note } from '../models/note.ts';

const MAX_NOTES = 100;
const RETENTION_DAYS = 730;
const BATCH_SIZE = 5000;
const ORDER = {
  name: 'notes',
  keys: [
    { expression: 'notes.created_at', direction: 'desc', type: 'timestamptz' },
    { expression: 'notes.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

/** Throws 404 for a device out of reach. */
export async function listNotes(ctx: Context, deviceId: string, query: PageQuery) {
  await ctx.use('devices').mustExist(deviceId);
  return page(Note.in(ctx).where({ deviceId }), query, ORDER);
}

/** Throws 404 for a device out of reach, NOTE_LIMIT_REACHED. */
export async function addNote(ctx: Context, deviceId: string, text: string): Promise<Note> {
  const { orgId } = await ctx.use('devices').mustExist(deviceId);
  if ((await Note.in(ctx).where({ deviceId }).resultSize()) >= MAX_NOTES) throw NoteLimit();
  const note = await Note.query(ctx.trx).insert({ orgId, deviceId, text }).returning('*');
  ctx.audit('note.create', { orgId, resourceId: note.id, details: { deviceId, text } });
  ctx.emit(added, { noteId: note.id, text }, { orgId, deviceId });
  return note;
}

/** Throws 404 for a note out of reach. */
export async function deleteNote(ctx: Context, deviceId: string, id: string): Promise<{ success: true }> {
  const [note] = await Note.in(ctx).where({ id, deviceId }).delete().returning('*');
  if (!note) throw errors.NotFound('Note not found');
  ctx.audit('note.delete', { orgId: note.orgId, resourceId: id, details: { deviceId, text: note.text } });
  return { success: true };
}

export async function searchNotes(ctx: Context, text: string, limit: number) {
  const found = await Note.in(ctx).whereRaw('position(lower(?) in lower(notes.text)) > 0', [text]).limit(limit);
  return found.map((note) => ({
    id: note.id,
    title: note.text.slice(0, 80),
    description: note.deviceId,
    place: 2 as const,
  }));
}

/** Idempotent: a second run finds nothing. */
export async function deleteExpired(ctx: Context): Promise<void> {
  await ctx.sql(
    `delete from notes where id in (select id from notes where created_at < now() - make_interval(days => $1) limit $2)`,
    [RETENTION_DAYS, BATCH_SIZE],
  );
}
