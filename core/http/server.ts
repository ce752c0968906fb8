/** The hapi server: one authentication scheme, the rules every route must meet, and the shape of every answer. */

import { randomUUID } from 'node:crypto';
import type { Server as Listener } from 'node:http';
import { constants, createBrotliCompress } from 'node:zlib';
import Hapi, { type Request, type ResponseToolkit, type Server } from '@hapi/hapi';
import Joi from 'joi';
import type { Logger } from 'pino';
import { type AuditRow, auditRow } from '../audit/record.ts';
import type { Scope } from '../context/index.ts';
import { auditsOf } from '../contract/index.ts';
import { AppError, InternalError, ValidationFailed } from '../errors.ts';
import { mustBeInstalled, narrowed, offFor } from '../modules/gate.ts';
import type { ModuleStates } from '../modules/states.ts';
import { type AccessServices, admit } from './access.ts';
import type { ClientAddresses } from './client-address.ts';
import { BodyDeadline } from './connections/body-deadline.ts';
import { Connections, createListener, sparePacedBodies } from './connections/listener.ts';
import { Standstill } from './connections/standstill.ts';
import { isDeclared } from './document/errors-of-route.ts';
import { errorBody, RequestTimeout, toAppError } from './envelope.ts';
import { type RouteServices, type RouteTag, toServerRoute } from './route.ts';
import { LiveStreams, stillAdmitted } from './streams/live-streams.ts';

export interface HttpOptions {
  host: string;
  port: number;
  addresses: ClientAddresses;
  secureCookies: boolean;
  corsOrigins: string[];
  /** Connections of one source without an authenticated caller; 0 for any number. */
  maxPerSource: number;
}
export interface HttpServices extends RouteServices {
  access: AccessServices;
  log: Logger;
  attempt(row: AuditRow): void;
  observe(route: string, method: string, status: number, seconds: number): void;
  modules: ModuleStates;
  /** Hears of every change that may decide who a caller is or reaches. */
  onPrincipalsChanged(listener: () => void): void;
  /** Where answers are checked: hears of undeclared errors, which then go out as they are. */
  onUndeclared?: (operation: string, error: AppError) => void;
}
declare module '@hapi/hapi' {
  interface ServerApplicationState {
    log: Logger;
    live: LiveStreams;
    connections: Connections;
    standstill: Standstill;
  }
}

/** What pages of other origins may send and read beside what hapi lets them. */
const CORS = {
  credentials: true,
  additionalHeaders: [
    ...['X-API-Key', 'Idempotency-Key', 'If-Match', 'X-Request-Id'],
    ...['X-SVC-CSRF', 'Last-Event-ID', 'X-Plugin-Signature'],
  ],
  additionalExposedHeaders: [
    ...['ETag', 'X-Request-Id', 'Retry-After', 'RateLimit', 'RateLimit-Policy', 'Idempotency-Replayed'],
    ...['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset', 'Deprecation', 'Sunset', 'Link'],
    ...['Content-Disposition', 'X-Next-After'],
  ],
};

export const REFRESH_COOKIE = 'svc_refresh_token';

/** Builds the server; routes are added by addRoutes(), and start() opens the port. */
export function createServer(services: HttpServices, options: HttpOptions): Server {
  const { maxPerSource, addresses } = options;
  const connections = new Connections({ maxPerSource, isProxy: (address) => addresses.isProxy(address) });
  const server = Hapi.server({ ...settingsOf(options), listener: createListener(connections) });
  sparePacedBodies(server.listener as Listener);
  // The default of 11 is meant for files that are compressed once: it takes longer than the request.
  server.encoder('br', () => createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }));
  server.app.log = services.log;
  server.app.live = new LiveStreams();
  server.app.connections = connections;
  server.app.standstill = new Standstill();
  services.onPrincipalsChanged(() => void server.app.live.recheck());
  server.ext('onPreStop', () => server.app.live.endAll());
  server.ext('onPostStop', () => server.app.standstill.stop());
  server.validator(Joi);
  server.ext('onRequest', (request, h) => {
    identify(request, addresses);
    return h.continue;
  });
  server.auth.scheme('caller', () => ({ authenticate: (request, h) => authenticate(services, request, h) }));
  server.auth.strategy('caller', 'caller');
  server.ext('onPreResponse', (request, h) => shapeErrors(services, request, h));
  server.events.on('response', (request) => observe(services, request));
  refuseUnguardedRoutes(server);
  return server;
}

function settingsOf(options: HttpOptions): Hapi.ServerOptions {
  return {
    host: options.host,
    port: options.port,
    routes: {
      cors: options.corsOrigins.length > 0 ? { ...CORS, origin: options.corsOrigins } : false,
      security: { hsts: options.secureCookies, xframe: 'deny', noSniff: true, referrer: 'no-referrer' },
      state: { parse: true, failAction: 'ignore' },
      // Bodies that come late are ended by BodyDeadline.
      payload: { timeout: false },
      validate: { options: { abortEarly: false }, failAction: refuseInput },
    },
    compression: { minBytes: 1024 },
    // A compressor would hold events back.
    mime: { override: { 'text/event-stream': { compressible: false } } },
    // What holds for every cookie.
    state: {
      isHttpOnly: true,
      isSecure: options.secureCookies,
      isSameSite: 'Strict',
      encoding: 'none',
      strictHeader: true,
      ignoreErrors: true,
    },
    debug: false,
    // The API is documented with GET /orgs/; both spellings are served.
    router: { stripTrailingSlash: true },
  };
}

/** Gives the request its id (the caller's own where it is well formed), the caller's address, the time of its start and a limit for its body. */
function identify(request: Request, addresses: ClientAddresses): void {
  const given = request.headers['x-request-id'];
  request.app.requestId = typeof given === 'string' && /^[\w.-]{8,100}$/.test(given) ? given : randomUUID();
  const headers = request.headers as Record<string, string | undefined>;
  request.app.ip = addresses.of(headers, request.info.remoteAddress);
  request.app.startedAt = process.hrtime.bigint();
  request.app.arrived = request.server.app.standstill.earliest();
  const { req, res } = request.raw;
  const { requestId } = request.app;
  request.app.body = BodyDeadline.of(req, res, () => errorBody(RequestTimeout(), headers.accept, requestId));
}

/** Counts a request that ended, and logs it at the level debug. */
function observe({ observe: count, log }: HttpServices, request: Request): void {
  const seconds = Number(process.hrtime.bigint() - request.app.startedAt) / 1e9;
  const status = (request.response as { statusCode?: number } | null)?.statusCode ?? 499;
  count(request.route.path, request.method, status, seconds);
  if (!log.isLevelEnabled('debug')) return;
  const { requestId } = request.app;
  const ms = Math.round(seconds * 1e4) / 10;
  log.debug({ requestId, method: request.method, path: request.path, status, ms }, 'request');
}

/** Every route must declare its access, routes added without the loader too: without it the route cannot register. */
function refuseUnguardedRoutes(server: Server): void {
  server.rules((rules: { access?: unknown } | null, info) => {
    if (!rules?.access) throw new Error(`the route ${info.method} ${info.path} has no access`);
    return null;
  });
}

export function addRoutes(server: Server, services: RouteServices, tags: RouteTag[]): void {
  server.route(tags.map((tag) => toServerRoute(services, tag)));
}

/** Of faults told at once; a body may hold thousands. */
const MAX_FAULTS = 100;

/** Names every fault and where it lies, e.g. `payload` `name`. */
function refuseInput(_request: Request, _h: ResponseToolkit, error?: Error): never {
  if (error?.cause instanceof AppError) throw error.cause;
  const where = (error as { output?: { payload?: { validation?: { source?: string } } } } | undefined)?.output?.payload;
  const details = Joi.isError(error)
    ? error.details.slice(0, MAX_FAULTS).map((detail) => ({
        in: where?.validation?.source,
        path: detail.path.join('.'),
        message: detail.message,
      }))
    : [];
  throw ValidationFailed({ ...(details[0] ? { message: details[0].message } : {}), details });
}

const ticketIn = ({ ticket }: Record<string, unknown>): string | undefined =>
  typeof ticket === 'string' ? ticket : undefined;

async function authenticate(services: HttpServices, request: Request, h: ResponseToolkit) {
  const tag = request.route.settings.plugins?.quartermaster?.();
  if (!tag) throw new Error(`the route ${request.route.path} has no access`);
  const asking = {
    route: tag.route,
    headers: request.headers as Record<string, string | undefined>,
    params: request.params as Record<string, string>,
    ip: request.app.ip,
    ticket: ticketIn(request.query),
  };
  try {
    const { modules } = services;
    if (modules.behind) await modules.settled();
    const forAgents = 'agent' in tag.route.access;
    const named = 'open' in tag.route.access ? (asking.params.orgId ?? null) : null;
    if (!forAgents) mustBeInstalled(modules, tag.module, named);
    const admitted = await admit(services.access, asking, (seen) => {
      request.app.caller = seen;
    });
    if (admitted.actor.kind !== 'anonymous') request.server.app.connections.release(request.raw.req.socket);
    if (forAgents && offFor(modules, tag.module, admitted.scope)) return droppedUnread(h);
    const reach = (scope: Scope) => narrowed(modules, tag.module, scope);
    const scope = reach(admitted.scope);
    const caller = scope === admitted.scope ? admitted : { ...admitted, scope };
    request.app.caller = caller;
    request.app.stillAdmitted = () => stillAdmitted(services.access, asking, caller, reach);
    return h.authenticated({ credentials: { caller } });
  } catch (error) {
    recordDenial(services, tag, request, error);
    throw error;
  }
}

/** Answers 204 to agents for a disabled feature, so that old agents stop retrying. */
const droppedUnread = (h: ResponseToolkit) => h.response().code(204).takeover();

/** A 403 on a write leaves a `denied` entry (the audit trail of who tried what). */
function recordDenial(services: HttpServices, tag: RouteTag, request: Request, error: unknown): void {
  const { caller } = request.app;
  const { route } = tag;
  const [action] = auditsOf(route);
  if (!caller || !(error instanceof AppError) || error.status !== 403 || !action) return;
  if (route.method === 'GET') return;
  const details = { method: route.method, path: request.path, code: error.code };
  services.attempt(
    auditRow(caller.actor, caller.scope, action, { result: 'denied', errorMessage: error.message, details }),
  );
}

/** Where answers are checked, an error that the operation does not declare is a fault of the server. */
function declared(
  { checkResponses, onUndeclared }: HttpServices,
  tag: RouteTag | undefined,
  error: AppError,
  log: Logger,
) {
  if (!checkResponses || !tag || isDeclared(tag, error)) return error;
  const label = `${tag.route.method} ${tag.route.path}`;
  if (onUndeclared) {
    onUndeclared(label, error);
    return error;
  }
  log.error({ err: error }, `${label} does not declare the error ${error.code} (${error.status})`);
  return InternalError();
}

function shapeErrors(services: HttpServices, request: Request, h: ResponseToolkit) {
  const { response } = request;
  if (!(response instanceof Error)) {
    response.header('x-request-id', request.app.requestId);
    return h.continue;
  }
  const log = services.log.child({ requestId: request.app.requestId });
  const tag = request.route.settings.plugins?.quartermaster?.();
  const error = declared(services, tag, toAppError(response, log), log);
  // The access check recorded its own denials; this error came out of the handler.
  if (tag && request.auth.isAuthenticated) recordDenial(services, tag, request, error);
  const { body, type } = errorBody(error, request.headers.accept as string | undefined, request.app.requestId);
  const shaped = h.response(body).code(error.status).type(type).header('x-request-id', request.app.requestId);
  for (const [name, value] of Object.entries({ ...request.app.caller?.headers, ...error.headers }))
    shaped.header(name, value);
  if (error.status === 401) shaped.header('www-authenticate', 'Bearer');
  return shaped;
}
