/** /plugins/installations: plugins that a tenant uses, their configuration and capabilities. */
import Joi from 'joi';
import { defineRoute, openObject, pageOf, pageQuery, searchText } from '#core';
import { PROVIDER_OPERATIONS, type ProviderKind } from '#plugin-sdk/host';
import { installationCreate, installationShape, installationUpdate, STATUSES } from '../models/installation.ts';
import { LEVELS, logShape } from '../models/log-line.ts';
import { type ActionInput, invokeAction, listProviders } from '../services/actions.ts';
import { updateInstallation } from '../services/installations/changes.ts';
import {
  type InstallationQuery,
  install,
  listInstallations,
  readInstallation,
  uninstall,
} from '../services/installations/installations.ts';
import { disable, enable } from '../services/installations/switching.ts';
import { type LogQuery, listLogs, readHealth } from '../services/reports.ts';

const params = Joi.object<{ id: string }>({ id: Joi.string().uuid().required() });
const read = { permission: 'organizations:read' };
const write = { permission: 'organizations:write', mfa: true };
const one = Joi.object({ data: installationShape.required() });
const base = '/plugins/installations';
const failures = ['PLUGIN_FAILED', 'PLUGIN_TIMEOUT', 'PLUGIN_BUSY'];
const count = Joi.number().integer().allow(null).required();
const anything = Joi.object().unknown();

export default [
  defineRoute({
    method: 'GET',
    path: base,
    summary: 'Lists installed plugins',
    access: read,
    query: Joi.object<InstallationQuery>({
      ...pageQuery(100),
      orgId: Joi.string().uuid().description('Those that serve this organization: its own, and its partner’s'),
      status: Joi.string()
        .valid(...STATUSES)
        .description('Only in this state'),
      enabled: Joi.boolean().description('true: only plugins that are enabled; false: only others'),
    }),
    response: pageOf(installationShape),
    handler: (ctx, { query }) => listInstallations(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/{id}`,
    summary: 'Reads an installed plugin; secrets are masked',
    access: read,
    params,
    response: one,
    handler: (ctx, { params: { id } }) => readInstallation(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: base,
    summary: 'Installs a plugin in an organization, or in all of a partner; it stays disabled until it is enabled',
    access: write,
    audit: 'plugin.install',
    payload: installationCreate,
    response: one,
    status: 202,
    errors: [
      ...['OWNER_REQUIRED', 'PLUGIN_DEPRECATED', 'INCOMPATIBLE', 'PERMISSION_NOT_GRANTED', 'CONFIG_INVALID'],
      ...['ALREADY_INSTALLED', 'DEPENDENCIES_MISSING', 'TARGET_OUT_OF_SCOPE', 'NOT_FOUND'],
    ],
    handler: (ctx, { payload }) => install(ctx, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: `${base}/{id}`,
    summary: 'Changes configuration, grants or version of an installed plugin',
    access: write,
    audit: 'plugin.update',
    params,
    payload: installationUpdate,
    response: one,
    errors: [
      'VERSION_DOWNGRADE',
      ...['NO_UPDATES', 'CONFIG_INVALID', 'CREDENTIALS_REQUIRED', 'INCOMPATIBLE', 'DEPENDENCIES_MISSING'],
      ...['INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    ],
    handler: (ctx, { params: { id }, payload }) => updateInstallation(ctx, id, payload),
  }),
  defineRoute({
    method: 'DELETE',
    path: `${base}/{id}`,
    summary: 'Removes a plugin, with or without what it has kept',
    access: write,
    audit: 'plugin.uninstall',
    params,
    query: Joi.object<{ keepData: boolean }>({
      keepData: Joi.boolean().default(false).description('What it kept is there for it when it is installed again'),
    }),
    response: Joi.object({ success: Joi.boolean().required() }),
    errors: ['HAS_DEPENDENTS', 'PLUGIN_IN_USE', 'INVALID_STATE', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, query }) => uninstall(ctx, id, query.keepData),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/{id}/enable`,
    summary: 'Lets a plugin run, once its onEnable has agreed',
    access: write,
    audit: 'plugin.enable',
    params,
    response: one,
    work: 'none',
    errors: [
      'ALREADY_ENABLED',
      'INVALID_STATE',
      'CONFIG_INVALID',
      'DEPENDENCIES_MISSING',
      'PLUGIN_FAILED',
      'TARGET_OUT_OF_SCOPE',
    ],
    handler: (ctx, { params: { id } }) => enable(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/{id}/disable`,
    summary: 'Stops a plugin; what waits for it is forgotten',
    access: write,
    audit: 'plugin.disable',
    params,
    payload: Joi.object<{ cascade: boolean } | null>({
      cascade: Joi.boolean().default(false).description('Also those that depend on it'),
    }).allow(null),
    response: one,
    work: 'none',
    errors: ['ALREADY_DISABLED', 'HAS_DEPENDENTS', 'TARGET_OUT_OF_SCOPE'],
    handler: (ctx, { params: { id }, payload }) => disable(ctx, id, payload?.cascade ?? false),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/{id}/logs`,
    summary: 'Lists what a plugin said, and what the server had to say about it, newest first',
    access: read,
    params,
    query: Joi.object<LogQuery>({
      ...pageQuery(100),
      level: Joi.string()
        .valid(...LEVELS)
        .description('Only lines of this level'),
      hook: Joi.string().max(200).description('Only lines of this call, as the lines name it'),
      since: Joi.date().iso().description('Earliest time, inclusive'),
      until: Joi.date().iso().description('Latest time, inclusive'),
      search: searchText(200).description('Part of the message'),
    }),
    response: pageOf(logShape),
    handler: (ctx, { params: { id }, query }) => listLogs(ctx, id, query),
  }),
  defineRoute({
    method: 'GET',
    path: `${base}/{id}/health`,
    summary: 'Says how a plugin fares, what waits for it, and which walls stand round it here',
    access: read,
    params,
    response: Joi.object({
      health: Joi.string().required(),
      enabled: Joi.boolean().required(),
      status: Joi.string().required(),
      reason: Joi.string().allow(null).required(),
      restartCount: Joi.number().integer().required(),
      lastActiveAt: Joi.date().iso().allow(null).required(),
      crashes: count.description('Of the last ten minutes; null where it is the partner’s above'),
      calls: count.description('Of the current window of ten minutes'),
      errors: count,
      queue: Joi.object({
        waiting: Joi.number().integer().required(),
        oldest: Joi.date().iso().allow(null).required(),
      }).required(),
      running: Joi.boolean().required().description('Whether the process that answered has it running'),
      isolation: anything.required(),
    }),
    handler: (ctx, { params: { id } }) => readHealth(ctx, id),
  }),
  defineRoute({
    method: 'POST',
    path: `${base}/{id}/invoke/{action}`,
    summary: 'Starts an action of a plugin and waits for its result',
    description: 'Takes the permission that the action names as well.',
    access: read,
    audit: 'plugin.invoke',
    params: Joi.object<{ id: string; action: string }>({
      id: Joi.string().uuid().required(),
      action: Joi.string().max(64).required().description('An action by its name, as the manifest lists it'),
    }),
    payload: Joi.object<ActionInput>({
      targetId: Joi.string()
        .uuid()
        .description(
          'The device, alert or organization that it is for; of a plugin of one organization, that may be left out',
        ),
      input: openObject().description('By inputSchema of the action'),
    }).allow(null),
    response: Joi.object({ result: Joi.any().required() }),
    work: 'none',
    limits: [{ name: 'plugin-invoke', max: 120, windowSeconds: 60, by: 'actor' }],
    errors: ['INVALID_STATE', 'CONFIG_INVALID', ...failures],
    handler: (ctx, { params: { id, action }, payload }) => invokeAction(ctx, id, action, payload ?? {}),
  }),
  defineRoute({
    method: 'GET',
    path: '/plugins/providers',
    summary: 'Lists what enabled plugins offer to other features',
    access: read,
    query: Joi.object<{ kind?: ProviderKind; orgId?: string }>({
      kind: Joi.string()
        .valid(...Object.keys(PROVIDER_OPERATIONS))
        .description('Only providers of this kind'),
      orgId: Joi.string().uuid(),
    }),
    response: Joi.object({ data: Joi.array().items(anything).required() }),
    handler: async (ctx, { query: { kind, orgId } }) => ({ data: await listProviders(ctx, kind, orgId) }),
  }),
];
