/** The manifest as JSON Schema (draft 2020-12). What a schema cannot say is in `check.ts`. */
import { CAPABILITY_NAMES } from '../capabilities.ts';
import { EGRESS_PATTERN } from '../egress.ts';
import { PROVIDER_OPERATIONS } from './types.ts';

const object = (required: string[], properties: Record<string, object>) => ({
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});
const list = (items: object, maxItems: number) => ({ type: 'array', maxItems, items });
const text = (maxLength: number, minLength = 1) => ({ type: 'string', minLength, maxLength });
const pattern = (source: string, maxLength = 256) => ({ type: 'string', maxLength, pattern: source });

/** Names of handlers: own methods of the plugin, never those that every object has. */
const handler = {
  ...pattern('^[A-Za-z][A-Za-z0-9_]{0,63}$'),
  not: { enum: ['constructor', 'toString', 'valueOf', 'hasOwnProperty', 'isPrototypeOf', 'toLocaleString'] },
};
const key = pattern('^[a-z][A-Za-z0-9_-]{0,63}$');
const slug = pattern('^[a-z][a-z0-9-]{2,63}$');
const url = { type: 'string', format: 'uri', pattern: '^https://', maxLength: 500 };
const range = text(100);
const scalar = { type: ['string', 'number', 'boolean'], maxLength: 1_000 };
const scalars = { type: 'array', minItems: 1, maxItems: 100, items: scalar };
const fieldKey = { ...pattern('^[A-Za-z][A-Za-z0-9_]{0,63}$'), not: { enum: ['constructor', 'prototype'] } };
const size = { type: 'integer', minimum: 0, maximum: 100_000 };

/** A subset of JSON Schema without patterns, references and nesting: it is compiled and run on the host. */
const field = object(['type'], {
  type: { enum: ['string', 'number', 'integer', 'boolean', 'array'] },
  title: text(100),
  description: text(1_000),
  default: { anyOf: [scalar, { type: 'null' }, { type: 'array', maxItems: 100, items: scalar }] },
  enum: scalars,
  minLength: size,
  maxLength: size,
  minimum: { type: 'number' },
  maximum: { type: 'number' },
  format: { enum: ['uri', 'email', 'hostname', 'ipv4', 'ipv6', 'uuid', 'date', 'date-time'] },
  items: object(['type'], {
    type: { enum: ['string', 'number', 'integer', 'boolean'] },
    enum: scalars,
    maxLength: size,
  }),
  minItems: size,
  maxItems: size,
  uniqueItems: { type: 'boolean' },
  'x-secret': { type: 'boolean' },
  'x-label': text(100),
  'x-help': text(1_000),
  'x-order': { type: 'integer' },
  'x-visibleWhen': object(['field', 'equals'], { field: fieldKey, equals: scalar }),
});
const form = object(['type', 'properties'], {
  type: { const: 'object' },
  properties: { type: 'object', maxProperties: 100, propertyNames: fieldKey, additionalProperties: field },
  required: { type: 'array', maxItems: 100, uniqueItems: true, items: fieldKey },
  additionalProperties: { const: false },
});
const eventKind = pattern('^[a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)+$', 100);
const permissionPair = pattern('^[a-z]+:[a-z]+$', 64);

export const MANIFEST_SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Quartermaster plugin manifest',
  ...object(
    ['manifestVersion', 'slug', 'name', 'version', 'description', 'author', 'license', 'type', 'engine', 'main'],
    {
      $schema: text(500),
      manifestVersion: { const: 1 },
      slug,
      name: text(100),
      version: text(64),
      description: text(2_000),
      author: text(200),
      license: text(100),
      type: { enum: ['integration', 'automation', 'reporting', 'collector', 'notification', 'ui'] },
      category: text(50),
      tags: { type: 'array', maxItems: 20, uniqueItems: true, items: text(50) },
      homepageUrl: url,
      documentationUrl: url,
      iconUrl: url,
      engine: object(['api'], { api: range, agent: range, runtime: { enum: ['interpreter', 'node'] } }),
      main: pattern('^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*\\.(js|mjs|cjs)$'),
      permissions: list(object(['name', 'reason'], { name: { enum: CAPABILITY_NAMES }, reason: text(500) }), 50),
      egress: list({ anyOf: [pattern(EGRESS_PATTERN), object(['fromConfig'], { fromConfig: fieldKey })] }, 50),
      configSchema: form,
      hooks: list(
        object(['event', 'handler'], {
          event: eventKind,
          handler,
          filter: {
            type: 'object',
            maxProperties: 10,
            propertyNames: pattern('^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*){0,5}$', 200),
            additionalProperties: { anyOf: [scalar, scalars] },
          },
          timeoutMs: { type: 'integer', minimum: 100, maximum: 30_000 },
        }),
        50,
      ),
      schedules: list(object(['name', 'cron', 'handler'], { name: key, cron: text(100), handler }), 20),
      actions: list(
        object(['name', 'label', 'target', 'permission'], {
          name: key,
          label: text(100),
          description: text(500),
          target: { enum: ['device', 'alert', 'org'] },
          inputSchema: form,
          permission: permissionPair,
          handler,
        }),
        50,
      ),
      providers: list(
        object(['kind', 'key', 'label', 'handlers'], {
          kind: { enum: Object.keys(PROVIDER_OPERATIONS) },
          key,
          label: text(100),
          description: text(1_000),
          handlers: { type: 'object', minProperties: 1, maxProperties: 10, additionalProperties: handler },
          cron: text(100),
          fields: { type: 'array', maxItems: 50, uniqueItems: true, items: text(64) },
          inputSchema: form,
          destructive: { type: 'boolean' },
        }),
        20,
      ),
      migrations: list(object(['from', 'handler'], { from: range, handler }), 20),
      dependencies: list(object(['slug', 'range'], { slug, range }), 20),
    },
  ),
} as const;
