/** The OpenAPI 3.1 document, made from the routes themselves. */
import type Joi from 'joi';
import type { AnyRoute, Module } from '../contract.ts';
import { declaredErrors } from '../errors.ts';
import { PREFIX, type RouteTag } from './route.ts';

type Json = Record<string, unknown>;
interface JsonSchema extends Json {
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

function schemaOf(schema: Joi.Schema, direction: 'input' | 'output'): JsonSchema {
  const converter = schema as unknown as {
    '~standard': { jsonSchema: Record<string, (options: object) => JsonSchema> };
  };
  const made = converter['~standard'].jsonSchema[direction]?.({ target: 'draft-2020-12' }) ?? {};
  const { $schema: _, ...rest } = made;
  return rest;
}

/** `GET /orgs/sites/{id}` -> `getOrgsSitesById`. */
function operationId(route: AnyRoute): string {
  const words = route.path
    .split('/')
    .filter(Boolean)
    .map((part) => (part.startsWith('{') ? `by-${part.slice(1, -1)}` : part));
  return [route.method.toLowerCase(), ...words]
    .flatMap((word) => word.split(/[^a-zA-Z0-9]+/))
    .map((word, index) => (index === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('');
}

function parameters(route: AnyRoute): Json[] {
  const list = (schema: Joi.ObjectSchema | undefined, place: 'path' | 'query') => {
    if (!schema) return [];
    const { properties = {}, required = [] } = schemaOf(schema, 'input');
    return Object.entries(properties).map(([name, { description, ...rest }]) => ({
      name,
      in: place,
      required: place === 'path' || required.includes(name),
      ...(description ? { description } : {}),
      schema: rest,
    }));
  };
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Sent again within a day, the request gets the answer of the first and changes nothing',
    schema: { type: 'string', maxLength: 128 },
  };
  return [...list(route.params, 'path'), ...list(route.query, 'query'), ...(route.idempotent ? [key] : [])];
}

function security(route: AnyRoute): Json[] {
  const { access } = route;
  if ('open' in access) return [];
  if ('agent' in access) return [{ agentToken: [] }];
  if ('portal' in access) return [{ portalSession: [] }];
  return [{ accessToken: [] }, ...(access.apiKey === false ? [] : [{ apiKey: [] }])];
}

function failures(route: AnyRoute): Json {
  const { access } = route;
  const statuses = new Set<number>([400]);
  if (!('open' in access)) for (const status of [401, 403]) statuses.add(status);
  if (route.params) statuses.add(404);
  if (route.limits) statuses.add(429);
  if (route.idempotent) statuses.add(409);
  const errors = declaredErrors();
  for (const code of route.errors ?? []) {
    const known = errors.get(code);
    if (!known) throw new Error(`${route.method} ${route.path} names the error ${code}, which nothing declares`);
    statuses.add(known.status);
  }
  return Object.fromEntries([...statuses].sort().map((status) => [status, { $ref: '#/components/responses/Failure' }]));
}

/** JSON by the route's schema; other media types as text. */
function contentOf(route: AnyRoute): Json {
  const types = route.produces ?? ['application/json'];
  return Object.fromEntries(
    types.map((type) => [
      type,
      { schema: type === 'application/json' ? schemaOf(route.response, 'output') : { type: 'string' } },
    ]),
  );
}

function operation({ route, module }: RouteTag): Json {
  const access = route.access;
  const permission = 'permission' in access ? access.permission : null;
  const status = String(route.status ?? 200);
  return {
    operationId: route.operationId ?? operationId(route),
    summary: route.summary,
    ...(route.description ? { description: route.description } : {}),
    tags: [module],
    security: security(route),
    ...(permission ? { 'x-permission': permission } : {}),
    ...('permission' in access && access.mfa ? { 'x-mfa': true } : {}),
    ...('permission' in access && access.scopes ? { 'x-scopes': access.scopes } : {}),
    ...(typeof route.audit === 'string' ? { 'x-audit': route.audit } : {}),
    parameters: parameters(route),
    ...(route.payload
      ? {
          requestBody: {
            required: true,
            content: { 'application/json': { schema: schemaOf(route.payload, 'input') } },
          },
        }
      : {}),
    responses: {
      [status]: {
        description: 'Success',
        content: contentOf(route),
      },
      ...failures(route),
    },
  };
}

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const order = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

/** One document for all routes given, in a stable order. */
export function openapiDocument(tags: RouteTag[], modules: Module[], version: string): Json {
  const paths: Record<string, Json> = {};
  const ordered = tags.toSorted(
    ({ route: a }, { route: b }) =>
      order(a.path, b.path) || order(METHODS.indexOf(a.method), METHODS.indexOf(b.method)),
  );
  for (const tag of ordered) {
    const path = paths[tag.route.path] ?? {};
    path[tag.route.method.toLowerCase()] = operation(tag);
    paths[tag.route.path] = path;
  }
  const used = new Set(tags.map((tag) => tag.module));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quartermaster',
      version,
      description: 'Remote monitoring and management for managed service providers.',
      license: { name: 'Proprietary', identifier: 'LicenseRef-Quartermaster' },
    },
    servers: [{ url: PREFIX }],
    tags: modules
      .filter((module) => used.has(module.name))
      .map(({ name, summary }) => ({ name, description: summary })),
    paths,
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'Access token of a signed-in user',
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        agentToken: { type: 'http', scheme: 'bearer', description: 'Token of an enrolled agent' },
      },
      schemas: {
        Error: {
          type: 'object',
          required: ['error'],
          properties: {
            error: {
              type: 'object',
              required: ['code', 'message', 'details'],
              properties: {
                code: { type: 'string', enum: [...declaredErrors().keys()].sort() },
                message: { type: 'string' },
                details: { type: 'array', items: {} },
              },
            },
          },
        },
      },
      responses: {
        Failure: {
          description: 'What went wrong, in the error envelope or, on request, as application/problem+json',
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
        },
      },
    },
  };
}

/** The text of the committed openapi.json; its version is the API's, not the running service's. */
export function openapiText(tags: RouteTag[], modules: Module[]): string {
  return `${JSON.stringify(openapiDocument(tags, modules, '1.0.0'), null, 1)}\n`;
}
