/** The answers of an operation: what it gives, and every error it can give, each set of codes written once. */
import { declaredErrors } from '../../errors.ts';
import { heedsKey } from '../conventions/idempotency.ts';
import type { RouteTag } from '../route.ts';
import { FILE } from './bounds.ts';
import { errorsOfRoute } from './errors-of-route.ts';
import { answerHeaders } from './headers.ts';
import type { Json } from './json-schema.ts';
import type { NamedSchemas } from './named-schemas.ts';

const TITLES: Record<number, string> = {
  200: 'Done',
  201: 'Created',
  202: 'Accepted: the work goes on',
  204: 'The module of this operation is off: the agent need not try again, and its body was not read',
  302: 'The browser goes on to `Location`',
  304: 'The caller knows this state already: `If-None-Match` names its entity tag',
  400: 'The request is not valid',
  401: 'The caller is not authenticated',
  403: 'The caller may not do this',
  404: 'There is no such thing within the reach of the caller',
  408: 'The body came too slowly',
  409: 'The state of things does not allow this',
  412: 'The resource is in another state than the one `If-Match` names',
  413: 'The body is too large',
  415: 'The body is of another media type',
  428: 'Something has to happen first',
  429: 'Too many requests; `Retry-After` says how long to wait',
  500: 'A fault of the server; its log has the request id',
  503: 'Something that the server needs is away; `Retry-After` says how long to wait',
};
const title = (status: number): string => TITLES[status] ?? 'Refused';

/** Errors as components: a set of codes under a status is one response for all operations. */
export class ErrorResponses {
  readonly #responses = new Map<string, Json>();
  readonly #codes = new Set<string>();

  refer(status: number, codes: readonly string[]): Json {
    const name = [status, ...codes].join('.');
    if (!this.#responses.has(name)) this.#responses.set(name, this.#write(status, codes));
    return { $ref: `#/components/responses/${name}` };
  }

  #write(status: number, codes: readonly string[]): Json {
    for (const code of codes) this.#codes.add(code);
    // The others are named so that validators that reject unknown properties of each part of an allOf know them here too.
    const error = { type: 'object', properties: { code: { type: 'string', enum: codes }, message: {}, details: {} } };
    return {
      description: `${title(status)}: ${codes.map((one) => `\`${one}\``).join(', ')}`,
      headers: answerHeaders({ wait: status === 429 || status === 503 }),
      content: {
        'application/json': {
          schema: {
            allOf: [{ $ref: '#/components/schemas/Error' }, { type: 'object', properties: { error } }],
          },
          examples: Object.fromEntries(codes.map((one) => [one, { $ref: `#/components/examples/${one}` }])),
        },
        'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } },
      },
    };
  }

  responses(): Json {
    return Object.fromEntries([...this.#responses].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** One answer for each code, as `components.examples`. */
  examples(): Json {
    return Object.fromEntries([...this.#codes].sort().map((code) => [code, errorExample(code)]));
  }
}

const FAULT = { in: 'payload', path: 'name', message: '"name" is required' };

function errorExample(code: string): Json {
  const message = declaredErrors().get(code)?.message ?? code;
  const details = code === 'VALIDATION_ERROR' ? [FAULT] : [];
  const error = { code, message: details[0]?.message ?? message, details };
  return { summary: message, value: { error, ...(code === 'RATE_LIMITED' ? { retryAfter: 30 } : {}) } };
}

/** JSON by the route's schema; other media types as what they are. */
function contentOf({ route, module, example }: RouteTag, named: NamedSchemas): Json {
  const shown = example?.answer === undefined ? {} : { example: example.answer };
  const types = route.produces ?? ['application/json'];
  const text = (type: string) => (/^text\/|json/.test(type) ? FILE : { ...FILE, format: 'binary' });
  return Object.fromEntries(
    types.map((type) => [
      type,
      {
        schema: type === 'application/json' ? named.write(module, route.response, 'output') : text(type),
        // Recorded is the answer in one media type: the first, or the one that is text.
        ...((type === 'application/json') === (typeof example?.answer !== 'string') ? shown : {}),
      },
    ]),
  );
}

export function responsesOf(tag: RouteTag, named: NamedSchemas, errors: ErrorResponses): Json {
  const { route, module, read } = tag;
  const status = route.status ?? 200;
  const shows = read?.route === route;
  const headers = answerHeaders({
    keys: 'permission' in route.access && route.access.apiKey !== false,
    tagged: shows,
    replayed: heedsKey(route),
    moved: status >= 300,
    deprecated: Boolean(route.deprecated),
  });
  const empty = status >= 300;
  const answers: Record<number, Json> = {
    [status]: { description: title(status), headers, ...(empty ? {} : { content: contentOf(tag, named) }) },
  };
  for (const [also, schema] of Object.entries(route.answers ?? {})) {
    const away = Number(also) >= 300 && Number(also) < 400;
    const content = { 'application/json': { schema: named.write(module, schema, 'output') } };
    answers[Number(also)] = {
      description: title(Number(also)),
      headers: away ? { ...headers, Location: { $ref: '#/components/headers/Location' } } : headers,
      ...(away ? {} : { content }),
    };
  }
  if (shows) answers[304] = { description: title(304), headers };
  if ('agent' in route.access && tag.switchable) answers[204] = { description: title(204), headers };
  for (const [refused, codes] of errorsOfRoute(tag)) answers[refused] ??= errors.refer(refused, codes);
  return Object.fromEntries(Object.entries(answers).sort(([a], [b]) => Number(a) - Number(b)));
}
