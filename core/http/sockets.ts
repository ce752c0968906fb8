/** WebSockets: an upgrade passes the gate that requests pass, then the socket belongs to the module that serves its path. */
import { randomUUID } from 'node:crypto';
import { type IncomingMessage, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Server } from '@hapi/hapi';
import Joi from 'joi';
import type { Logger } from 'pino';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Services } from '../context/index.ts';
import type { AnyRoute, Input, SocketEndpoint } from '../contract/index.ts';
import type { Counters } from '../counters/counters.ts';
import { type AppError, NotFound, Unavailable, ValidationFailed } from '../errors.ts';
import { mustBeInstalled, narrowed } from '../modules/gate.ts';
import type { ModuleStates } from '../modules/states.ts';
import { runUnitOfWork, type UnitOfWorkBackend } from '../work/index.ts';
import { type AccessServices, admit } from './access.ts';
import type { ClientAddresses } from './client-address.ts';
import { checkLimits } from './conventions/limits.ts';
import { errorBody, toAppError } from './envelope.ts';
import { PREFIX } from './route.ts';

export interface SocketServices {
  endpoints: readonly { module: string; endpoint: SocketEndpoint }[];
  modules: ModuleStates;
  access: AccessServices;
  counters: Counters;
  work: UnitOfWorkBackend;
  log: Logger;
  addresses: ClientAddresses;
  observe(route: string, method: string, status: number, seconds: number): void;
  /** The caller on this connection is known. */
  release(connection: Duplex): void;
  /** Counts what happens on sockets, for /metrics. */
  count(path: string, event: string): void;
}

interface Served {
  module: string;
  endpoint: SocketEndpoint;
  path: RegExp;
  /** What access and limits look at. */
  route: AnyRoute;
  server: WebSocketServer;
  open: Set<WebSocket>;
  /** Upgrades under way, which will be open in a moment. */
  coming: number;
}
type Headers = Record<string, string | undefined>;

/** What a peer sees when this process goes: come back, to another one or in a moment (RFC 6455, registered 1012). */
const RESTARTING = 1012;
/** How long peers may take to say goodbye, in milliseconds. */
const FAREWELL_MS = 1_000;

/** Serves the endpoints on the server's own port until it stops; an upgrade to any other path is answered with 404. */
export function addSockets(server: Server, services: SocketServices): void {
  const served = services.endpoints.map(toServed);
  server.listener.on('upgrade', (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    // Until ws owns the socket, nothing else listens for its errors.
    const broke = () => stream.destroy();
    stream.on('error', broke);
    void upgrade(services, served, request, stream, head).finally(() => stream.off('error', broke));
  });
  server.ext('onPreStop', () => closeAll(served.flatMap(({ open }) => [...open])));
}

function toServed({ module, endpoint }: SocketServices['endpoints'][number]): Served {
  const names = endpoint.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
  const route = { ...endpoint, method: 'GET' as const, response: Joi.any(), handler: () => null };
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // A deflate context costs more memory than all else of an idle socket.
    perMessageDeflate: false,
    maxPayload: endpoint.maxFrameBytes,
  });
  return { module, endpoint, path: new RegExp(`^${PREFIX}${names}$`), route, server, open: new Set(), coming: 0 };
}

async function upgrade(
  services: SocketServices,
  served: readonly Served[],
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
): Promise<void> {
  const begin = performance.now();
  const requestId = randomUUID();
  const path = (request.url ?? '').split('?')[0] ?? '';
  const mine = served.find((one) => one.path.test(path));
  const seen = (status: number) =>
    services.observe(mine?.route.path ?? '/', 'get', status, (performance.now() - begin) / 1000);
  if (mine) mine.coming += 1;
  try {
    if (!mine) throw NotFound('No such path or method');
    if (mine.open.size + mine.coming > mine.endpoint.most(services.work.services.config)) {
      throw Unavailable({ message: 'This process holds as many sockets as it may', headers: { 'retry-after': '10' } });
    }
    await hand(services, mine, request, stream, head, requestId, () => seen(101));
  } catch (error) {
    const shown = toAppError(error as Error, services.log.child({ requestId }));
    seen(shown.status);
    refuse(stream, shown, requestId);
  } finally {
    if (mine) mine.coming -= 1;
  }
}

async function hand(
  services: SocketServices,
  { module, endpoint, path, route, server, open }: Served,
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
  requestId: string,
  opened: () => void,
): Promise<void> {
  const headers = request.headers as Headers;
  const found = path.exec((request.url ?? '').split('?')[0] ?? '');
  const { value: params, error } = endpoint.params.validate({ ...found?.groups });
  if (error) throw ValidationFailed(error.message);
  const ip = services.addresses.of(headers, request.socket.remoteAddress ?? '');
  await services.modules.settled();
  mustBeInstalled(services.modules, module);
  const ticket = new URL(request.url ?? '/', 'http://here').searchParams.get('ticket') ?? undefined;
  const caller = await admit(services.access, { route, headers, params, ip, ticket }, () => undefined);
  const { actor } = caller;
  if (actor.kind !== 'anonymous') services.release(stream);
  const scope = narrowed(services.modules, module, caller.scope);
  const input: Input = { params, query: {}, payload: null, headers, cookies: {}, gone: new AbortController().signal };
  const { counters } = services;
  const { mac } = services.work.services;
  await checkLimits({ counters, mac }, route.limits, input, { ip, actorId: actor.id }, {});
  if (stream.destroyed) return opened();
  server.handleUpgrade(request, stream, head, (socket) => {
    opened();
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // A broken peer or frame ends in a close, of which the module hears.
    socket.on('error', () => services.count(endpoint.path, 'broken'));
    const role = scope.kind === 'system' ? ('platform' as const) : ('app' as const);
    endpoint.open({
      socket,
      actor,
      scope,
      params,
      headers,
      services: services.work.services as Pick<Services, 'config' | 'get' | 'counters'>,
      count: (event) => services.count(endpoint.path, event),
      work: (run) => runUnitOfWork(services.work, { actor, scope, requestId, log: services.log, role }, run),
    });
  });
}

/** Answers as a route would, on the raw connection, and ends it. */
function refuse(stream: Duplex, error: AppError, requestId: string): void {
  if (stream.destroyed) return;
  const { body, type } = errorBody(error, undefined, requestId);
  const text = JSON.stringify(body);
  const lines = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? 'Refused'}`,
    `content-type: ${type}`,
    `content-length: ${Buffer.byteLength(text)}`,
    'connection: close',
    `x-request-id: ${requestId}`,
    ...(error.status === 401 ? ['www-authenticate: Bearer'] : []),
    ...Object.entries(error.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
  ];
  stream.end(`${lines.join('\r\n')}\r\n\r\n${text}`, () => stream.destroy());
}

async function closeAll(sockets: readonly WebSocket[]): Promise<void> {
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  for (const socket of sockets) socket.close(RESTARTING, 'restarting');
  const late = setTimeout(() => {
    for (const socket of sockets) socket.terminate();
  }, FAREWELL_MS);
  await Promise.all(closed);
  clearTimeout(late);
}
