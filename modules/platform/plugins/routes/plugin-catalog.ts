/** /plugins/catalog: plugins and their versions, registered and withdrawn by system administrators. */
import Joi from 'joi';
import { type BodyStream, defineRoute, type Input, pageOf, pageQuery, searchText } from '#core';
import { entryDetailShape, entryShape, installedShape, TYPES } from '../models/catalog-entry.ts';
import { type CatalogQuery, listCatalog, type Marks, markEntry, readEntry, yankVersion } from '../services/catalog.ts';
import type { Decisions } from '../services/publishers.ts';
import { MOST_BYTES, PACKAGE_TYPE, registerFrom } from '../services/registrations.ts';

const read = { permission: 'organizations:read' };
const operator = { permission: 'organizations:write', scopes: ['system' as const], mfa: true };
const work = { platform: 'the catalog is of the whole installation' };
const slug = Joi.string().max(64).required();
const response = Joi.object({ data: entryDetailShape.required() });

export default [
  defineRoute({
    method: 'GET',
    path: '/plugins/catalog',
    summary: 'Lists the plugins that can be installed',
    access: read,
    query: Joi.object<CatalogQuery>({
      ...pageQuery(20),
      type: Joi.string()
        .valid(...TYPES)
        .description('Only plugins of this type'),
      category: Joi.string().max(50).description('Only plugins of this category'),
      search: searchText(100).description('Part of the name or the description'),
      featured: Joi.boolean().description('true: only featured plugins; false: only others'),
      installed: Joi.boolean().description('true: only plugins that are installed; false: only others'),
    }),
    response: pageOf(entryShape.keys({ installed: installedShape.allow(null).required() })),
    handler: (ctx, { query }) => listCatalog(ctx, query),
  }),
  defineRoute({
    method: 'GET',
    path: '/plugins/catalog/{slug}',
    summary: 'Reads a plugin: versions, what it asks for and why, its configuration',
    access: read,
    params: Joi.object<{ slug: string }>({ slug }),
    response,
    handler: (ctx, { params }) => readEntry(ctx, params.slug),
  }),
  defineRoute({
    method: 'POST',
    path: '/plugins/catalog',
    summary: 'Takes a plugin package into the catalog',
    description:
      'The body is the package. The header `x-plugin-signature` carries `keyId:base64`, by one of PLUGINS_TRUST_KEYS; without one it is taken only with PLUGINS_ALLOW_UNSIGNED.',
    access: operator,
    audit: 'plugin.catalog.register',
    work,
    query: Joi.object<Decisions>({
      allowDowngrade: Joi.boolean().description('Takes a version lower than the highest that is there'),
      changePublisher: Joi.boolean().description('Lets the plugin belong to the key of this package from now on'),
    }),
    stream: { type: PACKAGE_TYPE, maxBytes: () => MOST_BYTES },
    response,
    status: 201,
    errors: [
      ...['PACKAGE_INVALID', 'SIGNATURE_INVALID', 'VERSION_EXISTS', 'PAYLOAD_TOO_LARGE', 'BODY_INCOMPLETE'],
      ...['PUBLISHER_MISMATCH', 'SLUG_RESERVED', 'VERSION_DOWNGRADE'],
    ],
    handler: (ctx, { payload, headers, query }: Input<unknown, Decisions, BodyStream>) =>
      registerFrom(ctx, payload, headers['x-plugin-signature'], query),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/plugins/catalog/{slug}',
    summary: 'Marks a plugin as verified, featured or deprecated',
    access: operator,
    audit: 'plugin.catalog.update',
    work,
    params: Joi.object<{ slug: string }>({ slug }),
    payload: Joi.object<Marks, true>({
      isVerified: Joi.boolean().description('Plugins that are may be granted scripts:execute'),
      isFeatured: Joi.boolean(),
      isDeprecated: Joi.boolean().description('It cannot be installed any more'),
    }),
    response,
    errors: ['NO_UPDATES'],
    handler: (ctx, { params, payload }: { params: { slug: string }; payload: Marks }) =>
      markEntry(ctx, params.slug, payload),
  }),
  defineRoute({
    method: 'PATCH',
    path: '/plugins/catalog/{slug}/versions/{version}',
    summary: 'Withdraws a version, or takes that back',
    access: operator,
    audit: 'plugin.catalog.yank',
    work,
    params: Joi.object<{ slug: string; version: string }>({
      slug,
      version: Joi.string().max(64).required().description('The version, as GET /plugins/catalog/{slug} lists it'),
    }),
    payload: Joi.object<{ yanked: boolean }>({ yanked: Joi.boolean().required() }),
    response,
    handler: (ctx, { params, payload }) => yankVersion(ctx, params.slug, params.version, payload.yanked),
  }),
];
