/** Header fields of requests and answers, each written once in the document. */
import type { RouteTag } from '../route.ts';
import type { Json } from './json-schema.ts';

const text = (description: string, example: string, maxLength = 1000): Json => ({
  description,
  schema: { type: 'string', maxLength },
  example,
});
const whole = (description: string, example: number): Json => ({
  description,
  schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  example,
});

const HEADERS = {
  'Access-Control-Allow-Origin': text(
    'The page that called, where `CORS_ORIGINS` of the installation names it',
    'https://console.example.com',
  ),
  Deprecation: text('Since when callers should move on (RFC 9745)', '@1767225600'),
  ETag: text('The state that the answer shows, for `If-None-Match` and `If-Match`', '"Yk3vF0pVq8ZsT1nB4cXw2A.R9d"'),
  'Idempotency-Replayed': text('`true`: this is the answer of the first request with this key', 'true', 4),
  Link: text('What takes the place of this operation', '</api/v1/orgs/sites>; rel="successor-version"'),
  Location: text('Where it goes on', 'https://login.example.com/authorize'),
  RateLimit: text(
    'Where a limit counts the call: what is left of it, and the seconds until it is whole',
    '"hour";r=997;t=3412',
  ),
  'RateLimit-Policy': text('Where a limit counts the call: its size and its window in seconds', '"hour";q=1000;w=3600'),
  'Retry-After': whole('Seconds to wait', 30),
  Sunset: text('When it stops working (RFC 8594)', 'Fri, 01 Jan 2027 00:00:00 GMT'),
  'X-RateLimit-Limit': whole('To API keys: requests an hour', 1000),
  'X-RateLimit-Remaining': whole('To API keys: what is left of them', 997),
  'X-RateLimit-Reset': whole('To API keys: when they are whole again, in seconds since 1970', 1_767_225_600),
  'X-Request-Id': text(
    'The name of this request in the logs: the one it came with, or a new one',
    '7d9f0c1e-5a0b-4c8e-9f57-1d3f2b6a8c40',
    100,
  ),
} satisfies Record<string, Json>;

type Name = keyof typeof HEADERS;
const DEPRECATION: readonly string[] = ['Deprecation', 'Link', 'Sunset'];

/** Those that the operations use. */
export function headersFor(tags: readonly RouteTag[]): Json {
  const goes = tags.some(({ route }) => route.deprecated);
  return Object.fromEntries(Object.entries(HEADERS).filter(([name]) => goes || !DEPRECATION.includes(name)));
}

interface Answered {
  wait?: boolean;
  keys?: boolean;
  tagged?: boolean;
  replayed?: boolean;
  moved?: boolean;
  deprecated?: boolean;
}

export function answerHeaders({ wait, keys, tagged, replayed, moved, deprecated }: Answered): Json {
  const names: Name[] = [
    'Access-Control-Allow-Origin',
    ...(deprecated ? (['Deprecation', 'Link', 'Sunset'] as const) : []),
    ...(tagged ? (['ETag'] as const) : []),
    ...(replayed ? (['Idempotency-Replayed'] as const) : []),
    ...(moved ? (['Location'] as const) : []),
    'RateLimit',
    'RateLimit-Policy',
    ...(wait ? (['Retry-After'] as const) : []),
    ...(keys ? (['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'] as const) : []),
    'X-Request-Id',
  ];
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `components.parameters`: header fields that many operations take. */
export const HEADER_PARAMETERS: Record<string, Json> = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: 'Sent again within a day, the request gets the answer of the first and changes nothing',
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: '0f6c1d2e-7a41-4f0b-b8de-3c1f5a9e2b70',
  },
  IfMatch: {
    name: 'If-Match',
    in: 'header',
    required: false,
    description: 'Entity tag of the state that the change is about; 412 when the resource has another one by now',
    schema: { type: 'string', maxLength: 1000 },
    example: '"Yk3vF0pVq8ZsT1nB4cXw2A.R9d"',
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    required: false,
    description: 'Entity tag of the state that the caller knows; 304 without a body when it is still that one',
    schema: { type: 'string', maxLength: 1000 },
    example: '"Yk3vF0pVq8ZsT1nB4cXw2A.R9d"',
  },
};
