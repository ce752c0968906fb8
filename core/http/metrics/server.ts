/** /metrics and /health/live on a port of their own: how a process without API is scraped. */
import { createServer, type Server } from 'node:http';
import { listenFault } from '../../listen.ts';
import { mayReadMetrics } from './access.ts';
import type { Metrics } from './metrics.ts';

const LISTENER = { name: 'The metrics server', variable: 'METRICS_PORT' };

/** @throws {ListenError} the port cannot be had */
export async function startMetricsServer(
  metrics: Metrics,
  options: { host: string; port: number; token?: string | undefined },
): Promise<{ port: number; stop(): Promise<void> }> {
  const server: Server = createServer((request, answer) => {
    const address = request.socket.remoteAddress ?? '';
    const path = request.url?.split('?')[0];
    // The body is not read, so the connection ends with the answer.
    answer.shouldKeepAlive = false;
    const end = (status: number, body: string) => answer.writeHead(status, { 'content-type': 'text/plain' }).end(body);
    if (request.method !== 'GET') end(405, 'only GET\n');
    else if (path === '/health/live') end(200, 'ok\n');
    else if (path !== '/metrics') end(404, 'not here\n');
    else if (!mayReadMetrics(options.token, { headers: request.headers, address, isProxy: false }))
      end(403, 'not allowed\n');
    else
      metrics.text().then(
        (text) => answer.writeHead(200, { 'content-type': 'text/plain; version=0.0.4' }).end(text),
        () => end(500, 'not readable\n'),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(listenFault({ ...LISTENER, ...options }, error)));
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : options.port,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
