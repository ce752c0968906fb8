/** The switches of the installation, of a partner, and of an organization. */
import Joi from 'joi';
import { defineRoute } from '#core';
import { instanceRow, instanceTurn, organizationTurn, partnerRow, partnerTurn, stateShape } from '../models/switch.ts';
import { listInstance, listPartner } from '../services/levels.ts';
import { organizationPlace, partnerPlace } from '../services/places.ts';
import { turn } from '../services/switches.ts';

const key = Joi.string().max(100).required().description('The module, by its key');
const state = Joi.object({ data: stateShape.required() });
const audit = { oneOf: ['module.enable', 'module.disable'] } as const;
const switchErrors = ['CORE_MODULE', 'DEPENDENCY_DISABLED', 'HAS_DEPENDENTS'];
const read = { permission: 'organizations:read' };
const write = { permission: 'organizations:write', mfa: true };

export default [
  defineRoute({
    method: 'GET',
    path: '/modules/instance',
    summary: 'Lists the switches of the installation, with the usage of each module',
    access: { ...read, scopes: ['system'] },
    response: Joi.object({ data: Joi.array().items(instanceRow).required() }),
    handler: (ctx) => listInstance(ctx),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/modules/instance/{key}',
    summary: 'Switches a module on or off for the installation, and locks the switch',
    access: { ...write, scopes: ['system'] },
    audit,
    params: Joi.object<{ key: string }>({ key }),
    payload: instanceTurn,
    response: state,
    errors: [...switchErrors, 'DISABLED_ABOVE'],
    handler: (ctx, { params, payload }) =>
      turn(ctx, { level: 'instance', partnerId: null, orgId: null }, params.key, payload),
  }),
  defineRoute({
    method: 'GET',
    path: '/modules/partner',
    summary: 'Lists the switches of a partner',
    access: { ...read, scopes: ['partner', 'system'] },
    query: Joi.object<{ partnerId?: string }>({
      partnerId: Joi.string().uuid().description('The partner; required for system callers'),
    }),
    response: Joi.object({ data: Joi.array().items(partnerRow).required() }),
    handler: (ctx, { query }) => listPartner(ctx, query),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/modules/partner/{key}',
    summary: 'Switches a module on or off for a partner and all of its organizations',
    access: { ...write, scopes: ['partner', 'system'] },
    audit,
    params: Joi.object<{ key: string }>({ key }),
    payload: partnerTurn,
    response: state,
    errors: [...switchErrors, 'LOCKED_BY_INSTANCE', 'NOT_IN_PLAN', 'DISABLED_ABOVE'],
    handler: async (ctx, { params, payload }) => turn(ctx, await partnerPlace(ctx, payload), params.key, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/modules/organizations/{orgId}/{key}',
    summary: "Switches a module on or off for one organization, or inherits its partner's state",
    access: { ...write, scopes: ['partner', 'system'] },
    audit,
    params: Joi.object<{ orgId: string; key: string }>({ orgId: Joi.string().uuid().required(), key }),
    payload: organizationTurn,
    response: state,
    errors: [...switchErrors, 'LOCKED_BY_INSTANCE', 'DISABLED_ABOVE'],
    handler: async (ctx, { params, payload }) =>
      turn(ctx, await organizationPlace(ctx, params.orgId), params.key, payload),
  }),
];
