/** A provider that is only a discovery document, for all that can be wrong with one. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface StaticProvider {
  issuer: string;
  stop(): Promise<void>;
}
interface Page {
  status?: number;
  headers?: Record<string, string>;
  /** Text as it is, anything else as JSON. */
  body?: unknown;
}

/** @param document what the discovery document says besides issuer and endpoints; null leaves one out */
export async function staticProvider(
  document: object | Page,
  page: 'document' | 'page' = 'document',
): Promise<StaticProvider> {
  const server = createServer((request, response) => {
    const known = { '/.well-known/openid-configuration': discovery, '/jwks': { keys: [] } } as Record<string, unknown>;
    const {
      status = 200,
      headers = {},
      body,
    } = page === 'page' ? (document as Page) : { body: known[request.url ?? ''] };
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body ?? {}));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const discovery = Object.fromEntries(
    Object.entries({
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      ...(page === 'document' ? document : {}),
    }).filter(([, value]) => value !== null),
  );
  return {
    issuer,
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
