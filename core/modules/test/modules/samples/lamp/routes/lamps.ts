/** The lamp's routes: for people, for everybody, and a write. */
import Joi from 'joi';
import { type Context, defineRoute, mustAccessOrg } from '#core';

const rows = async (ctx: Context) => ({
  texts: (await ctx.sql<{ text: string }>('select text from lamps order by text')).rows.map(({ text }) => text),
});
const texts = Joi.object({ texts: Joi.array().items(Joi.string()) });

export default [
  defineRoute({
    method: 'GET',
    path: '/lamps',
    summary: 'Lists lamps of every organization reached',
    access: { permission: 'scripts:write' },
    query: Joi.object<{ orgId?: string }>({ orgId: Joi.string().uuid() }),
    response: texts,
    handler: (ctx, { query: { orgId } }) => {
      if (orgId) mustAccessOrg(ctx, orgId);
      return rows(ctx);
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/lamps/open',
    summary: 'Answers everybody',
    access: { open: 'a test of public routes' },
    response: Joi.object({ ok: Joi.boolean() }),
    handler: () => ({ ok: true }),
  }),
  defineRoute({
    method: 'POST',
    path: '/lamps',
    summary: 'Writes a lamp',
    access: { permission: 'scripts:write' },
    audit: 'lamp.note',
    payload: Joi.object<{ text: string }>({ text: Joi.string().max(100).required() }),
    response: Joi.object({ ok: Joi.boolean() }),
    handler: async (ctx, { payload: { text } }) => {
      await ctx.sql('insert into lamps (org_id, text) values ($1, $2)', [ctx.scope.orgId, text]);
      ctx.audit('lamp.note');
      return { ok: true };
    },
  }),
];
