/** Health at the host root: alive, ready, and which version, and /metrics. */
import type { Server } from '@hapi/hapi';
import type { Headers } from './client-address.ts';
import { mayReadMetrics } from './metrics/access.ts';
import type { Metrics } from './metrics/metrics.ts';

export interface HealthOptions {
  version: string;
  /** What a request needs and is missing; null when nothing is. */
  missing(): Promise<string | null>;
  metrics: Metrics;
  /** Without a token only programs on this machine may read metrics. */
  metricsToken?: string | undefined;
  isProxy(address: string): boolean;
  stopping(): boolean;
  /** Whether the queue keeps up; told, never a reason not to be ready. */
  jobs(): 'ok' | 'degraded' | undefined;
}

export function addHealth(server: Server, options: HealthOptions): void {
  const open = (path: string, why: string) => ({ method: 'GET' as const, path, rules: { access: { open: why } } });
  const ready = async (): Promise<string | null> => {
    if (options.stopping()) return 'stopping';
    return options.missing();
  };
  server.route([
    {
      ...open('/health', 'load balancers and upgrades ask for the version'),
      options: { auth: false },
      handler: () => ({ status: 'ok', version: options.version, jobs: options.jobs() }),
    },
    {
      ...open('/health/live', 'process supervisors'),
      options: { auth: false },
      handler: () => ({ status: 'ok' }),
    },
    {
      ...open('/health/ready', 'load balancers'),
      options: { auth: false },
      handler: async (_request, h) => {
        const problem = await ready();
        if (!problem) return { status: 'ready', version: options.version };
        return h.response({ status: 'not ready', reason: problem }).code(503);
      },
    },
    {
      ...open('/metrics', 'guarded by a token or by the loopback address'),
      options: { auth: false },
      handler: async (request, h) => {
        const address = request.info.remoteAddress;
        const scrape = { headers: request.headers as Headers, address, isProxy: options.isProxy(address) };
        if (!mayReadMetrics(options.metricsToken, scrape)) {
          return h.response({ error: { code: 'FORBIDDEN', message: 'Permission denied', details: [] } }).code(403);
        }
        return h.response(await options.metrics.text()).type('text/plain; version=0.0.4');
      },
    },
  ]);
}
