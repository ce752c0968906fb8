/** /modules: listing modules, explaining their state, and previewing what switching one off affects. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { moduleShape } from '../models/switch.ts';
import { listModules, readEffective } from '../services/catalog.ts';
import { impactOf, type Question } from '../services/impacts.ts';
import { explain } from '../services/reasons.ts';

const query = Joi.object<{ orgId?: string }>({
  orgId: Joi.string().uuid().description("An organization; defaults to the caller's own organization or partner"),
});
const params = Joi.object<{ key: string }>({
  key: Joi.string().max(100).required(),
});
const anybody = { permission: null, why: 'consoles build menus from it; it shows only what the caller has' };
const word = Joi.string();

export default [
  defineRoute({
    method: 'GET',
    path: '/modules',
    summary: 'Lists all modules and whether they are on here',
    access: anybody,
    query,
    response: Joi.object({ data: Joi.array().items(moduleShape).required() }),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => listModules(ctx, input.query),
  }),
  defineRoute({
    method: 'GET',
    path: '/modules/effective',
    summary: 'Returns which modules are on here, with a version',
    access: anybody,
    query,
    response: Joi.object({
      modules: Joi.object().pattern(word, Joi.boolean()).required(),
      version: word.required(),
    }),
    errors: ['NOT_FOUND'],
    handler: (ctx, input) => readEffective(ctx, input.query),
  }),
  defineRoute({
    method: 'GET',
    path: '/modules/{key}/why',
    summary: 'Explains why a module is on or off here, with every check',
    access: anybody,
    params,
    query,
    response: Joi.object({
      data: Joi.object({
        key: word.required(),
        enabled: Joi.boolean().required(),
        reason: word.allow(null).required(),
        chain: Joi.array()
          .items(
            Joi.object({
              check: word.required(),
              passed: Joi.boolean().required(),
              message: word.required(),
              module: word,
              because: word,
              since: Joi.date().iso(),
              by: word.allow(null),
              note: word.allow(null),
            }),
          )
          .required(),
      }).required(),
    }),
    handler: (ctx, input) => explain(ctx, input.params.key, input.query),
  }),
  defineRoute({
    method: 'POST',
    path: '/modules/{key}/impact',
    summary: 'Counts what switching a module off would affect, without changing anything',
    access: { permission: 'organizations:read', scopes: ['system', 'partner'] },
    audit: { none: 'nothing is changed' },
    params,
    payload: Joi.object<Question>({
      level: Joi.string().valid('instance', 'partner', 'organization').required(),
      orgId: Joi.string().uuid().description('For the level organization'),
      partnerId: Joi.string().uuid().description('For the level partner; required for system callers'),
      enabled: Joi.boolean().valid(false).default(false),
    }),
    response: Joi.object({
      dependents: Joi.array().items(word).required(),
      objects: Joi.object().pattern(word, Joi.number().integer()).required(),
      liveSessions: Joi.number().integer().required(),
      pendingJobs: Joi.number().integer().required(),
      waitingCommands: Joi.number().integer().required(),
    }),
    errors: ['CORE_MODULE', 'ORG_REQUIRED'],
    handler: (ctx, { params: { key }, payload }) => impactOf(ctx, key, payload),
  }),
];
