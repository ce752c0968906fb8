/** /auth/sessions: the caller's sessions. */
import Joi from 'joi';
import { defineRoute, type PageQuery, pageOf, pageQuery } from '#core';
import { sessionShape } from '../models/session.ts';
import { endSession, listSessions } from '../services/access/sessions.ts';

const access = {
  permission: null,
  why: 'callers manage their own sessions',
  apiKey: false,
  beforeMfa: true,
  whileSuspended: true,
};
const work = { platform: 'the tenant role cannot read sessions; limited to the caller' };

export default [
  defineRoute({
    method: 'GET',
    path: '/auth/sessions',
    summary: "Lists the caller's active sessions, most recently used first",
    access,
    work,
    query: Joi.object<PageQuery>(pageQuery()),
    response: pageOf(sessionShape),
    handler: (ctx, { query }) => listSessions(ctx, query),
  }),
  defineRoute({
    method: 'DELETE',
    path: '/auth/sessions/{id}',
    summary: "Ends one of the caller's sessions",
    access,
    audit: 'auth.session.revoke',
    work,
    params: Joi.object<{ id: string }>({ id: Joi.string().uuid().required() }),
    response: Joi.object({ success: Joi.boolean().required() }),
    handler: (ctx, { params: { id } }) => endSession(ctx, id),
  }),
];
