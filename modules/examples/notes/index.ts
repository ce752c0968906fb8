/** Notes on devices: the smallest complete module, made to be copied. It is not part of the product. */
import { defineModule } from '#core';
import { noteCreate, noteShape } from './models/note.ts';

export default defineModule({
  name: 'notes',
  title: 'Notes',
  summary: 'Notes that technicians leave on devices',
  requires: ['devices', 'search'],
  permissions: ['devices:read', 'devices:write'],
  audits: ['note.create', 'note.delete'],
  schemas: { Note: noteShape, NoteCreate: noteCreate },
});
