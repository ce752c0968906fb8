/** One declaration of a table's columns gives the model, and the schemas of inputs and answers. */
import test from 'ava';
import Joi from 'joi';
import { column, defineTable } from '../columns.ts';

const notes = defineTable('notes', {
  id: column.uuid(),
  text: column.text(Joi.string().trim().min(1).max(5)),
  kind: column.oneOf('plain', 'warning'),
  link: column.nullable(column.text(Joi.string().uri())),
  createdAt: column.time(),
});
class Note extends notes.Model {}

test('the model has the table, and fields without values of their own', (t) => {
  t.is(Note.tableName, 'notes');
  t.deepEqual(Object.keys(new Note()), []);
});

test('an input takes the named columns only, by their rules, and fills in defaults', (t) => {
  const create = notes.input(['text', 'kind', 'link'], { required: ['text'], defaults: { kind: 'plain' } });
  t.deepEqual(create.validate({ text: ' a ' }).value, { text: 'a', kind: 'plain' });
  t.is(create.validate({ text: 'a', link: null }).error, undefined);
  t.regex(create.validate({}).error?.message ?? '', /"text" is required/);
  t.regex(create.validate({ text: 'longer' }).error?.message ?? '', /length must be less/);
  t.regex(create.validate({ text: 'a', id: 'x' }).error?.message ?? '', /"id" is not allowed/);
  t.is(notes.input(['text']).validate({}).error, undefined);
});

test('an answer has every column, and promises less than inputs ask for', (t) => {
  const row = { id: '0198a0f0-0000-7000-8000-000000000000', text: 'an old long text', kind: 'plain', link: null };
  t.is(notes.answer().validate({ ...row, createdAt: new Date() }).error, undefined);
  t.regex(notes.answer().validate(row).error?.message ?? '', /"createdAt" is required/);
  t.is(notes.answer(['text']).validate({ text: '' }).error?.message, '"text" is not allowed to be empty');
});
