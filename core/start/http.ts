/** Starts the HTTP server: routes, sockets, health, metrics and the API document. */
import type { Server } from '@hapi/hapi';
import { useTicket } from '../auth/browser-tickets.ts';
import type { AccessServices } from '../http/access.ts';
import { ClientAddresses } from '../http/client-address.ts';
import { addDocs } from '../http/document/docs.ts';
import { documentOnce } from '../http/document/document.ts';
import { addHealth } from '../http/health.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { watchReadiness } from '../http/readiness.ts';
import { addRoutes, createServer, type HttpServices } from '../http/server.ts';
import { addSockets } from '../http/sockets.ts';
import { watchQueue } from '../jobs/queue-health.ts';
import { listenFault } from '../listen.ts';
import { outgoingMessages, routeTags, socketEndpoints } from '../loader/load.ts';
import type { LoadedModule } from '../loader/read-module.ts';
import type { ModuleStates } from '../modules/states.ts';
import type { UnitOfWorkBackend } from '../work/index.ts';
import type { StartedDatabase } from './database.ts';
import type { StartedLive } from './live.ts';
import type { PlatformOptions } from './options.ts';
import type { Stoppers } from './stoppers.ts';

export interface HttpParts
  extends Pick<StartedDatabase, 'attempts' | 'modules'>,
    Pick<StartedLive, 'counters' | 'principals'> {
  work: UnitOfWorkBackend;
  metrics: Metrics;
  states: ModuleStates;
  /** The modules that started; `modules` has the faulty ones too. */
  started: readonly LoadedModule[];
}

/** Milliseconds that open requests have to end when the process stops. */
const STOP_MS = 10_000;

export async function startHttp(options: PlatformOptions, parts: HttpParts, stoppers: Stoppers): Promise<Server> {
  const { config, log } = options;
  const { work, counters, states, metrics } = parts;
  const access = accessServices(options, parts);
  const http = httpServices(options, parts, access);
  const addresses = new ClientAddresses(config.http.proxies);
  const server = createServer(http, {
    host: config.http.host,
    port: config.http.port,
    addresses,
    secureCookies: config.http.publicUrl.startsWith('https:'),
    corsOrigins: config.http.corsOrigins,
    maxPerSource: config.http.connectionsPerSource,
  });
  let stopping = false;
  addHealth(server, {
    version: config.version,
    missing: watchReadiness(work.database),
    metrics,
    metricsToken: config.http.metricsToken,
    isProxy: (address) => addresses.isProxy(address),
    stopping: () => stopping,
    jobs: watchQueue(work.database.platform),
  });
  const tags = routeTags(parts.started);
  addRoutes(server, http, tags);
  addSockets(server, {
    endpoints: socketEndpoints(parts.started),
    access,
    modules: states,
    counters,
    work,
    log,
    addresses,
    release: (connection) => server.app.connections.release(connection),
    observe: metrics.observe,
    count: metrics.socket,
  });
  const document = documentOnce(tags, states.all, config.version, outgoingMessages(parts.modules));
  // Building the document takes a while: do it before the first request for it, except in tests, which rarely ask.
  if (options.clocks !== false) document();
  addDocs(server, { document, modules: states, access });
  const { host, port } = config.http;
  await server.start().catch((error: unknown) => {
    throw listenFault({ name: 'The HTTP server', host, port, variable: 'PORT' }, error);
  });
  stoppers.add('the HTTP server', async () => {
    stopping = true;
    await server.stop({ timeout: STOP_MS });
  });
  return server;
}

function accessServices({ config }: PlatformOptions, { work, counters, principals }: HttpParts): AccessServices {
  return {
    principals,
    counters,
    batches: work.batches,
    useTicket: (ticket, purpose, ip) => useTicket(work.database.platform, ticket, purpose, ip),
    verifyToken: work.services.verifyAccess,
    agentAuthenticator: () => work.contributions('auth.agent')[0] as ReturnType<AccessServices['agentAuthenticator']>,
    mfaEnabled: config.identity.twoFactor,
    services: work.services,
  };
}

function httpServices(options: PlatformOptions, parts: HttpParts, access: AccessServices): HttpServices {
  const { attempts, states, principals, work, counters, metrics } = parts;
  return {
    work,
    counters,
    access,
    log: options.log,
    checkResponses: options.checkResponses ?? false,
    onUndeclared: options.onUndeclared,
    attempt: (row) => attempts.add(row),
    observe: metrics.observe,
    modules: states,
    onPrincipalsChanged(listener) {
      principals.onForgotten(listener);
      states.onChange(listener);
    },
  };
}

/** The address at which the server listens; on all interfaces it is shown as localhost. */
export const urlOf = ({ info: { host, port } }: Server): string =>
  `http://${host === '0.0.0.0' ? 'localhost' : host}:${port}`;
