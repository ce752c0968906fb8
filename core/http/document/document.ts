/** The OpenAPI 3.1 document, made from the routes themselves. */
import type { Module } from '../../contract/index.ts';
import { declaredErrors } from '../../errors.ts';
import { PREFIX, type RouteTag } from '../route.ts';
import { HEADER_PARAMETERS, headersFor } from './headers.ts';
import { INTRODUCTION } from './introduction.ts';
import type { Json } from './json-schema.ts';
import { NamedSchemas } from './named-schemas.ts';
import { operationOf } from './operation.ts';
import { ErrorResponses } from './responses.ts';
import { withSelections } from './selections.ts';
import { webhooksOf } from './webhooks.ts';

type Messages = Parameters<typeof webhooksOf>[0];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const order = <T extends string | number>(a: T, b: T) => (a < b ? -1 : a > b ? 1 : 0);

/** One document for all routes given, in a stable order. */
export function openapiDocument(
  tags: RouteTag[],
  modules: readonly Module[],
  version: string,
  messages: Messages = [],
): Json {
  const gathered = {
    named: new NamedSchemas(modules),
    errors: new ErrorResponses(),
    reads: new Set(tags.filter(({ route }) => route.method === 'GET').map(({ route }) => route.path)),
  };
  const paths: Record<string, Json> = {};
  const ordered = tags.toSorted(
    ({ route: a }, { route: b }) =>
      order(a.path, b.path) || order(METHODS.indexOf(a.method), METHODS.indexOf(b.method)),
  );
  for (const tag of ordered) {
    const path = paths[tag.route.path] ?? {};
    path[tag.route.method.toLowerCase()] = operationOf(tag, gathered);
    paths[tag.route.path] = path;
  }
  const schemas = withSelections(ordered, paths, gathered.named.used());
  const used = new Set([...tags, ...messages].map(({ module }) => module));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quartermaster',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: PREFIX, 'x-internal': false }],
    tags: modules
      .filter((module) => used.has(module.name))
      .map(({ name, summary }) => ({ name, description: summary })),
    paths,
    ...(messages.length > 0 ? { webhooks: webhooksOf(messages) } : {}),
    components: {
      securitySchemes: {
        accessToken: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            'Access token of a signed-in user, issued and verified as RFC8725 has it: one algorithm, one issuer',
        },
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        agentToken: { type: 'http', scheme: 'bearer', description: 'Token of an enrolled agent' },
      },
      schemas: { ...schemas, Error: errorSchema(), Problem: PROBLEM },
      responses: gathered.errors.responses(),
      examples: gathered.errors.examples(),
      headers: headersFor(tags),
      parameters: HEADER_PARAMETERS,
    },
  };
}

const WHOLE = { type: 'integer', format: 'int32', minimum: 0, maximum: 2 ** 31 - 1 };
const TEXT = { type: 'string', maxLength: 10_000 };

/** The envelope of every error; a function, because modules declare their codes while they load. */
const errorSchema = (): Json => ({
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['code', 'message', 'details'],
      properties: {
        code: {
          type: 'string',
          enum: [...declaredErrors().keys()].sort(),
          description: 'Keeps its meaning and status',
        },
        message: { ...TEXT, description: 'For people; may change' },
        details: {
          type: 'array',
          maxItems: 20_000,
          items: {},
          description: 'Of VALIDATION_ERROR each fault: `in` (params, query, payload, headers), `path`, `message`',
        },
      },
    },
    retryAfter: { ...WHOLE, description: 'Seconds to wait, with RATE_LIMITED' },
  },
});
const PROBLEM: Json = {
  type: 'object',
  description: 'RFC 9457, for callers whose `Accept` names application/problem+json',
  required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'errors'],
  properties: {
    type: { ...TEXT, description: 'Where the code is explained' },
    title: TEXT,
    status: { ...WHOLE, minimum: 400, maximum: 599 },
    detail: TEXT,
    instance: { ...TEXT, description: 'The request, by its id' },
    code: TEXT,
    errors: { type: 'array', maxItems: 20_000, items: {}, description: 'The `details` of the envelope' },
  },
};

/** The same, made when it is first asked for and then kept. */
export function documentOnce(...parts: Parameters<typeof openapiDocument>): () => Json {
  let made: Json | undefined;
  return () => {
    made ??= openapiDocument(...parts);
    return made;
  };
}

/** The document without these modules: what a caller has for whom they are off. */
export function withoutModules(document: Json, off: ReadonlySet<string>): Json {
  if (off.size === 0) return document;
  const has = (operation: { tags: string[] }) => !operation.tags.some((tag) => off.has(tag));
  const paths = Object.entries(document.paths as Record<string, Record<string, { tags: string[] }>>)
    .map(
      ([path, methods]) => [path, Object.fromEntries(Object.entries(methods).filter(([, one]) => has(one)))] as const,
    )
    .filter(([, methods]) => Object.keys(methods).length > 0);
  const tags = (document.tags as { name: string }[]).filter(({ name }) => !off.has(name));
  const webhooks = Object.entries((document.webhooks ?? {}) as Record<string, { post: { tags: string[] } }>).filter(
    ([, { post }]) => has(post),
  );
  return {
    ...document,
    tags,
    paths: Object.fromEntries(paths),
    ...(webhooks.length > 0 ? { webhooks: Object.fromEntries(webhooks) } : { webhooks: {} }),
  };
}

/** The text of the committed openapi.json; its version is the API's, not the running service's. */
export function openapiText(tags: RouteTag[], modules: Module[], messages: Messages): string {
  return `${JSON.stringify(openapiDocument(tags, modules, '1.0.0', messages), null, 1)}\n`;
}
