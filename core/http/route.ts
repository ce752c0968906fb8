/** A contract route as a hapi route: access, validation, limits, one piece of work, and the answer. */
import { Readable } from 'node:stream';
import type { Lifecycle, Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import { type AnyRoute, auditsOf, type Input, type OperationExample } from '../contract/index.ts';
import type { Counters } from '../counters/counters.ts';
import { AuditMissing, InternalError } from '../errors.ts';
import { runUnitOfWork, type UnitOfWork, type UnitOfWorkBackend } from '../work/index.ts';
import type { Caller } from './access.ts';
import type { BodyDeadline } from './connections/body-deadline.ts';
import { mustBeFresh, mustBeFreshToBegin } from './connections/freshness.ts';
import { deprecationFields } from './conventions/deprecations.ts';
import { currentTag, entityTag, mustMatch, type Reading } from './conventions/entity-tags.ts';
import { queryOf, withFields } from './conventions/field-selection.ts';
import { once } from './conventions/idempotency.ts';
import { checkLimits } from './conventions/limits.ts';
import { bodyOptions, payloadOf } from './payloads/bodies.ts';
import { mustBeStorable } from './payloads/input.ts';
import { Reply } from './reply.ts';
import { BodyStream } from './streams/body-stream.ts';

export const PREFIX = '/api/v1';

export interface RouteServices {
  work: UnitOfWorkBackend;
  counters: Counters;
  /** Validates every answer against what its route declares; on in tests. */
  checkResponses: boolean;
}
export interface RouteTag {
  route: AnyRoute;
  module: string;
  /** The module can be switched off. */
  switchable: boolean;
  example?: OperationExample;
  /** The GET that shows the resource at this path: the route itself, or for a write the one whose tag it heeds. */
  read?: Reading;
}
declare module '@hapi/hapi' {
  interface PluginSpecificConfiguration {
    quartermaster?: () => RouteTag;
  }
  interface AuthCredentials {
    caller?: Caller;
  }
  interface RequestApplicationState {
    requestId: string;
    ip: string;
    startedAt: bigint;
    /** The earliest time at which the whole request can have been here, as `performance.now()` counts. */
    arrived: number;
    /** Limits the time of a body; undefined without one. */
    body?: BodyDeadline | undefined;
    caller?: Caller;
    /** The header fields of the limits that were counted before the body was read. */
    limited?: Record<string, string>;
    /** Whether the caller would be let in once more; for answers that last. */
    stillAdmitted?: () => Promise<boolean>;
  }
}

export function toServerRoute(services: RouteServices, tag: RouteTag): ServerRoute {
  const { route } = tag;
  const hasBody = route.method !== 'GET' && (route.method !== 'DELETE' || route.payload !== undefined);
  return {
    method: route.method,
    path: PREFIX + route.path,
    rules: { access: route.access },
    options: {
      auth: { strategy: 'caller', mode: 'required' },
      ext: {
        ...(isCheckedEarly(route) ? { onPreAuth: checkEarly(services, route) } : {}),
        ...(hasBody ? { onPostAuth: { method: bodyArrived } } : {}),
      },
      // hapi copies objects in here to their depth, schemas with them; not functions.
      plugins: { quartermaster: () => tag },
      ...(hasBody ? { payload: bodyOptions(services, route) } : {}),
      validate: {
        ...(route.params ? { params: route.params } : {}),
        query: queryOf(route),
        ...(hasBody ? { payload: payloadOf(services, route) } : {}),
      },
      handler: (request, h) => handle(services, tag, request, h),
    },
  };
}

/** hapi calls it when the body is here, or its stream. */
function bodyArrived(request: Request, h: ResponseToolkit): symbol {
  request.app.arrived = request.server.app.standstill.earliest();
  return h.continue;
}

const isCheckedEarly = ({ closed, limits }: AnyRoute): boolean =>
  closed !== undefined || limits?.some(({ beforeBody }) => beforeBody) === true;

/** What depends on neither caller nor body comes before both are read: whether the route is closed, and limits that count every attempt. */
function checkEarly(services: RouteServices, route: AnyRoute): { method: Lifecycle.Method } {
  const { counters } = services;
  const { config, mac } = services.work.services;
  const limits = route.limits?.filter(({ beforeBody }) => beforeBody);
  return {
    async method(request, h) {
      const answer = route.closed?.(config);
      if (answer) return h.response(answer.body).code(answer.status).header('cache-control', 'no-store').takeover();
      const headers = request.headers as Input['headers'];
      const input: Input = { ...{ params: {}, query: {}, payload: null, headers, cookies: {} }, gone: goneOf(request) };
      const who = { ip: request.app.ip, actorId: null };
      request.app.limited = await checkLimits({ counters, mac }, limits, input, who, {});
      return h.continue;
    },
  };
}

async function handle(
  services: RouteServices,
  { route, read }: RouteTag,
  request: Request,
  h: ResponseToolkit,
): Promise<ResponseObject> {
  const { caller } = request.auth.credentials;
  if (!caller) throw InternalError();
  await mustBeFreshToBegin(request);
  const { input, fields } = inputOf(request);
  const { actor, scope } = caller;
  // Agents' bodies are cleaned by their schemas and never refused for a bad character.
  if (!('agent' in route.access)) mustBeStorable(input);
  const who = { ip: request.app.ip, actorId: actor.id };
  const { counters } = services;
  const { mac } = services.work.services;
  const limits = route.limits?.filter(({ beforeBody }) => !beforeBody);
  const headers = {
    ...(await checkLimits({ counters, mac }, limits, input, who, request.app.limited ?? caller.headers)),
    ...deprecationFields(route),
  };
  const asPlatform = scope.kind === 'system' || typeof route.work === 'object';
  const options = {
    actor,
    scope,
    requestId: request.app.requestId,
    log: request.server.app.log,
    role: asPlatform ? ('platform' as const) : ('app' as const),
    closed: route.work === 'none',
    // A body that is handed on may come for hours before the first statement.
    mayBegin: input.payload instanceof BodyStream ? undefined : () => mustBeFresh(request),
  };
  let unsent: unknown;
  const result = await runUnitOfWork(services.work, options, async (ctx, work) => {
    const { answer, replayed } = await once(ctx, route, input, async () => {
      await mustMatch(ctx, route, read, input);
      return route.handler(ctx, input);
    });
    if (replayed) return answer;
    unsent = answer instanceof Reply ? answer.body : null;
    const refused = answer instanceof Reply && (answer.options.status ?? 200) >= 400;
    if (!refused) mustBeAudited(route, work);
    // Return the new entity tag when the request carried If-Match.
    if (read && !refused && input.headers['if-match'] && route.method !== 'DELETE') {
      headers.etag = `"${await currentTag(ctx, read, input)}"`;
    }
    return answer;
  })
    .catch((error: unknown) => {
      // A body that will not be sent must not keep its file or its source open.
      if (unsent instanceof Readable) unsent.destroy();
      throw error;
    })
    .finally(async () => {
      if (input.payload instanceof BodyStream) await input.payload.drain();
    });
  const response = answerWith(services, { route, read }, result, h, { headers, fields });
  keepLive(request, result);
  return response;
}

/** What the handler receives, and the fields of the answer that the caller chose. */
function inputOf(request: Request): { input: Input; fields: string[] | undefined } {
  // A route with a `fields` of its own has it as a text.
  const { fields: chosen, ...others } = request.query as Record<string, unknown>;
  const fields = Array.isArray(chosen) ? (chosen as string[]) : undefined;
  const input: Input = {
    params: request.params,
    query: fields ? others : request.query,
    payload: request.payload,
    headers: request.headers as Record<string, string | undefined>,
    cookies: request.state as Record<string, string | undefined>,
    get gone() {
      return goneOf(request);
    },
  };
  return { input, fields };
}

/** Throws AUDIT_MISSING where a change succeeded without the audit entry that its route declares. */
function mustBeAudited(route: AnyRoute, work: UnitOfWork): void {
  const promised = auditsOf(route);
  const isOwed = promised.length > 0 && !promised.some((action) => work.recorded.has(action));
  if (isOwed && !work.saidUnchanged) {
    throw AuditMissing(`${route.method} ${route.path} promised the audit entry ${promised.join(' or ')}`);
  }
}

/** Made when a handler asks for it: most answer before anybody could go away. */
function goneOf(request: Request): AbortSignal {
  const gone = new AbortController();
  const { res } = request.raw;
  if (res.destroyed) gone.abort();
  else res.once('close', () => gone.abort());
  return gone.signal;
}

function keepLive(request: Request, result: unknown): void {
  if (!(result instanceof Reply) || !(result.body instanceof Readable) || !result.options.live) return;
  const admitted = request.app.stillAdmitted ?? (async () => true);
  request.server.app.live.add(result.body, { admitted, end: result.options.live });
}

function answerWith(
  services: RouteServices,
  { route, read }: Pick<RouteTag, 'route' | 'read'>,
  result: unknown,
  h: ResponseToolkit,
  { headers, fields }: { headers: Record<string, string>; fields: string[] | undefined },
): ResponseObject {
  const { body, options } = result instanceof Reply ? result : { body: result, options: {} as Reply['options'] };
  const status = options.status ?? route.status ?? 200;
  if (services.checkResponses) checkResponse(route, status, body);
  const shown = fields ? withFields(route, body, fields) : (body ?? null);
  const response =
    read?.route === route && status < 400 ? tagged(read, shown as object, h) : h.response(shown as object);
  response.code(status);
  // Tokens and secrets are answers to changes alone, and no such answer is worth storing.
  if (route.method !== 'GET') response.header('cache-control', 'no-store');
  if (options.type) response.type(options.type);
  for (const [name, value] of Object.entries({ ...headers, ...options.headers })) response.header(name, value);
  for (const [name, cookie] of Object.entries(options.cookies ?? {})) {
    const ttl = (cookie.maxAgeSeconds ?? 0) * 1000;
    const { path, sameSite } = cookie;
    if (cookie.value === null) response.unstate(name, { path });
    else response.state(name, cookie.value, { path, ttl, ...(sameSite ? { isSameSite: sameSite } : {}) });
  }
  return response;
}

/** Made into text once, for the tag and for the caller; hapi answers 304 to who knows the tag. */
function tagged(read: Reading, body: object, h: ResponseToolkit): ResponseObject {
  const text = JSON.stringify(body);
  return h
    .response(text)
    .type('application/json')
    .etag(entityTag(read, body, text));
}

/** A stream is written while it is read: there is nothing to hold against the schema. */
function checkResponse(route: AnyRoute, status: number, body: unknown): void {
  const schema = status === (route.status ?? 200) ? route.response : route.answers?.[status];
  if (!schema) throw new Error(`${route.method} ${route.path} answers ${status}, which it does not declare`);
  if (body instanceof Readable) return;
  const plain = body === undefined || typeof body === 'string' ? body : JSON.parse(JSON.stringify(body));
  const { error } = schema.validate(plain, { abortEarly: false, convert: true });
  if (error) throw new Error(`${route.method} ${route.path} answers against its own schema: ${error.message}`);
}
