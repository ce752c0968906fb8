/** Writes a note in the ways that tests want to see done or undone. */

import Joi from 'joi';
import { type Context, defineRoute, errors } from '#core';
import noted from '../events/noted.ts';

interface Wish {
  text: string;
  next: 'audit' | 'forget' | 'throw' | 'crash' | 'unchanged' | 'job' | 'event' | 'both' | 'late';
}

async function write(ctx: Context, { text, next }: Wish) {
  const orgId = ctx.scope.orgId ?? ctx.scope.orgIds?.[0] ?? null;
  if (next === 'unchanged') ctx.unchanged();
  else await ctx.sql('insert into notes (org_id, text) values ($1, $2)', [orgId, text]);
  if (next === 'throw') throw errors.InvalidState();
  if (next === 'crash') throw new Error('a secret detail of the inside');
  if (next === 'job') ctx.addJob('probe/note', { text: `${text} by job` });
  if (next === 'both') {
    ctx.addJob('probe/note', { text });
    ctx.emit(noted, { text });
  }
  if (next === 'event') ctx.emit(noted, { text: `${text} by event` });
  if (next === 'late') ctx.addJob('probe/note', { text: 'boom' });
  if (next !== 'forget' && next !== 'unchanged')
    ctx.audit('probe.note', { details: { text, password: 'hunter2' }, resourceId: 'not-a-uuid' });
  return { text };
}

export default [
  defineRoute({
    method: 'POST',
    path: '/probe/notes',
    summary: 'Writes a note',
    access: { permission: 'devices:write' },
    audit: 'probe.note',
    payload: Joi.object<Wish>({ text: Joi.string().max(2000).required(), next: Joi.string().max(20).required() }),
    response: Joi.object({ text: Joi.string().required() }),
    status: 201,
    errors: ['INVALID_STATE'],
    handler: (ctx, { payload }) => write(ctx, payload as Wish),
  }),
  defineRoute({
    method: 'GET',
    path: '/probe/notes',
    summary: 'Reads all notes without naming a tenant',
    access: { permission: 'devices:read' },
    response: Joi.object({ texts: Joi.array().items(Joi.string()) }),
    handler: async (ctx) => ({
      texts: (await ctx.sql<{ text: string }>('select text from notes order by text')).rows.map((row) => row.text),
    }),
  }),
  defineRoute({
    method: 'GET',
    path: '/probe/limited',
    summary: 'Answers twice a minute',
    access: { open: 'a test of limits' },
    limits: [{ name: 'probe', max: 2, windowSeconds: 60, by: 'ip', message: 'Slow down' }],
    response: Joi.object({ ok: Joi.boolean() }),
    handler: () => ({ ok: true }),
  }),
  defineRoute({
    method: 'GET',
    path: '/probe/old',
    summary: 'Is about to go, and says much before it does',
    access: { open: 'a test of what is said of routes that go' },
    deprecated: { since: '2026-01-01', sunset: '2027-01-01', instead: '/api/v1/probe/notes' },
    response: Joi.object({ text: Joi.string() }),
    handler: () => ({ text: 'the same again, '.repeat(500) }),
  }),
  defineRoute({
    method: 'POST',
    path: '/probe/world',
    summary: 'Talks to the world and must not hold a transaction',
    access: { permission: 'devices:execute', mfa: true },
    audit: { none: 'nothing is changed' },
    work: 'none',
    response: Joi.object({ refused: Joi.string() }),
    handler: async (ctx) => ({
      refused: await ctx.sql('select 1').then(
        () => '',
        (error: Error) => error.message,
      ),
    }),
  }),
];
