/** /auth/sessions: where the caller is logged in. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { sessionShape } from '../models/session.ts';
import { endSession, listSessions } from '../services/access/sessions.ts';

const access = { permission: null, why: 'the sessions are the own ones', apiKey: false, beforeMfa: true };
const work = { platform: 'sessions are out of reach for tenant work; limited to the own user' };

export default [
  defineRoute({
    method: 'GET',
    path: '/auth/sessions',
    summary: 'Lists the own running sessions, the one used last first',
    access,
    work,
    query: Joi.object<PageQuery>(pageQuery()),
    response: pageOf(sessionShape),
    handler: (ctx, { query }) => listSessions(ctx, query),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/auth/sessions/{id}',
    summary: 'Ends one of the own sessions',
    access,
    audit: 'auth.session.revoke',
    work,
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { id } }) => endSession(ctx, id),
  }),
];
