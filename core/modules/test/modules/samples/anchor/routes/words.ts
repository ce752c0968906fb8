/** What fills the anchor's slots, and a write that tells its subscribers. */
import Joi from 'joi';
import { defineRoute } from '#core';
import lit from '../../lamp/events/lit.ts';
import told from '../events/told.ts';

const text = Joi.string().max(100).required();

export default [
  defineRoute({
    method: 'GET',
    path: '/anchor/words',
    summary: 'Lists what fills the slots',
    access: { permission: 'devices:read' },
    response: Joi.object({ words: Joi.array(), guards: Joi.array(), reach: Joi.array() }),
    handler: async (ctx) => ({
      words: ctx.contributions('anchor.word').map(({ word }) => word),
      guards: ctx.contributions('anchor.guard').map(({ word }) => word),
      reach: await Promise.all(
        ctx.contributionsWithin('anchor.word').map(({ orgIds }) =>
          ctx.within(orgIds, async (narrow) => ({
            scope: narrow.scope.orgIds?.length,
            seen: Number((await narrow.sql('select count(*) as n from organizations')).rows[0]?.n),
          })),
        ),
      ),
    }),
  }),
  defineRoute({
    method: 'POST',
    path: '/anchor/tell',
    summary: 'Tells subscribers and adds jobs of the lamp',
    access: { permission: 'devices:write' },
    audit: 'anchor.tell',
    payload: Joi.object<{ text: string; orgId: string }>({ text, orgId: Joi.string().uuid().required() }),
    response: Joi.object({ ok: Joi.boolean() }),
    handler: (ctx, { payload: { text, orgId } }) => {
      ctx.emit(told, { text }, { orgId });
      ctx.emit(lit, { text }, { orgId });
      ctx.addJob('lamp/shine', { text }, { orgId });
      ctx.addJob('lamp/sweep', { text }, { orgId });
      ctx.audit('anchor.tell', { orgId });
      return { ok: true };
    },
  }),
];
