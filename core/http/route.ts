/** A contract route as a hapi route: access, validation, limits, one piece of work, and the answer. */
import { Readable } from 'node:stream';
import type { Request, ResponseObject, ResponseToolkit, ServerRoute } from '@hapi/hapi';
import Joi from 'joi';
import type { AnyRoute, Input } from '../contract.ts';
import type { Counters } from '../counters/counters.ts';
import { AuditMissing, InternalError } from '../errors.ts';
import { inWork, type WorkServices } from '../work.ts';
import type { Caller } from './access.ts';
import { once } from './idempotency.ts';
import { mustBeShapely, mustBeStorable } from './input.ts';
import { checkLimits } from './limits.ts';
import { Reply } from './reply.ts';

export const PREFIX = '/api/v1';

export interface RouteServices {
  work: WorkServices;
  counters: Counters;
  /** Validates every answer against its declared schema; on in tests. */
  checkResponses: boolean;
}
export interface RouteTag {
  route: AnyRoute;
  module: string;
}
declare module '@hapi/hapi' {
  interface PluginSpecificConfiguration {
    quartermaster?: RouteTag;
  }
  interface AuthCredentials {
    caller?: Caller;
  }
  interface RequestApplicationState {
    requestId: string;
    ip: string;
    startedAt: bigint;
    caller?: Caller;
    /** Whether the caller would be let in once more; for answers that last. */
    stillAdmitted?: () => Promise<boolean>;
  }
}

export function toServerRoute(services: RouteServices, tag: RouteTag): ServerRoute {
  const { route } = tag;
  const hasBody = route.method !== 'GET' && route.method !== 'DELETE';
  return {
    method: route.method,
    path: PREFIX + route.path,
    rules: { access: route.access },
    options: {
      auth: { strategy: 'caller', mode: 'required' },
      plugins: { quartermaster: tag },
      ...(hasBody
        ? {
            payload: {
              maxBytes: route.maxBytes ?? 1024 * 1024,
              allow: 'application/json',
              defaultContentType: 'application/json',
            },
          }
        : {}),
      validate: {
        ...(route.params ? { params: route.params } : {}),
        query: route.query ?? Joi.object({}),
        ...(hasBody ? { payload: payloadOf(route) } : {}),
      },
      handler: (request, h) => handle(services, route, request, h),
    },
  };
}

function payloadOf(route: AnyRoute): (body: unknown, options: object) => Promise<unknown> {
  const schema = route.payload ?? Joi.object({}).allow(null);
  const { plain } = route;
  return async (body, options) => {
    if (plain?.(body)) return body;
    try {
      mustBeShapely('payload', body);
    } catch (cause) {
      // hapi reads the details of what is thrown here as Joi's; ours have another form and go through unread.
      throw new Error('the body has no shape to validate', { cause });
    }
    return schema.validateAsync(body, options);
  };
}

async function handle(
  services: RouteServices,
  route: AnyRoute,
  request: Request,
  h: ResponseToolkit,
): Promise<ResponseObject> {
  const { caller } = request.auth.credentials;
  if (!caller) throw InternalError();
  const input: Input = {
    params: request.params,
    query: request.query,
    payload: request.payload,
    headers: request.headers as Record<string, string | undefined>,
    cookies: request.state as Record<string, string | undefined>,
  };
  const { actor, scope } = caller;
  // What agents send is cleaned by their schemas, never refused for it (domain/agents, section 4).
  if (!('agent' in route.access)) mustBeStorable(input);
  await checkLimits(services.counters, route, input, { ip: request.app.ip, actorId: actor.id });
  const asPlatform = scope.kind === 'system' || typeof route.work === 'object';
  const options = {
    actor,
    scope,
    requestId: request.app.requestId,
    log: request.server.app.log,
    role: asPlatform ? ('platform' as const) : ('app' as const),
    closed: route.work === 'none',
  };
  let unsent: unknown;
  const result = await inWork(services.work, options, async (ctx, work) => {
    const { answer, replayed } = await once(ctx, route, input, async () => route.handler(ctx, input));
    if (replayed) return answer;
    unsent = answer instanceof Reply ? answer.body : null;
    const refused = answer instanceof Reply && (answer.options.status ?? 200) >= 400;
    if (typeof route.audit === 'string' && !refused && !work.saidUnchanged && !work.recorded.has(route.audit)) {
      throw AuditMissing(`${route.method} ${route.path} promised the audit entry ${route.audit}`);
    }
    return answer;
  }).catch((error: unknown) => {
    // What nobody will read must not hold its file or its source open.
    if (unsent instanceof Readable) unsent.destroy();
    throw error;
  });
  const response = answerWith(services, route, result, h, caller);
  keepLive(request, result);
  return response;
}

function keepLive(request: Request, result: unknown): void {
  if (!(result instanceof Reply) || !(result.body instanceof Readable) || !result.options.live) return;
  const admitted = request.app.stillAdmitted ?? (async () => true);
  request.server.app.live.add(result.body, { admitted, end: result.options.live });
}

function answerWith(
  services: RouteServices,
  route: AnyRoute,
  result: unknown,
  h: ResponseToolkit,
  caller: Caller,
): ResponseObject {
  const { body, options } = result instanceof Reply ? result : { body: result, options: {} as Reply['options'] };
  const status = options.status ?? route.status ?? 200;
  // A stream is written while it is read: there is nothing to hold against the schema.
  if (services.checkResponses && status < 400 && !(body instanceof Readable)) checkResponse(route, body);
  const response = h.response((body ?? null) as object).code(status);
  if (options.type) response.type(options.type);
  for (const [name, value] of Object.entries({ ...caller.headers, ...options.headers })) response.header(name, value);
  for (const [name, cookie] of Object.entries(options.cookies ?? {})) {
    const ttl = (cookie.maxAgeSeconds ?? 0) * 1000;
    const { path, sameSite } = cookie;
    if (cookie.value === null) response.unstate(name, { path });
    else response.state(name, cookie.value, { path, ttl, ...(sameSite ? { isSameSite: sameSite } : {}) });
  }
  return response;
}

function checkResponse(route: AnyRoute, body: unknown): void {
  const plain = body === undefined || typeof body === 'string' ? body : JSON.parse(JSON.stringify(body));
  const { error } = route.response.validate(plain, { abortEarly: false, convert: true });
  if (error) throw new Error(`${route.method} ${route.path} answers against its own schema: ${error.message}`);
}
