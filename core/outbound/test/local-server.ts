/** Servers on this machine for the tests of this room, and clients that may call them. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, LookupFunction, Server as NetServer } from 'node:net';
import type { ExecutionContext } from 'ava';
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../http-client.ts';

/** A client that may call this machine. */
export const local: HttpClientOptions = { allowCidrs: ['127.0.0.0/8'], allowHttp: true };

/** Starts a server for one test and gives its port. */
export async function listen(t: ExecutionContext, server: NetServer | Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    if ('closeAllConnections' in server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts an HTTP server for one test and gives its origin. */
export const serve = async (t: ExecutionContext, listener: RequestListener) =>
  `http://127.0.0.1:${await listen(t, createServer(listener))}`;

/** A client for one test. */
export function open(t: ExecutionContext, options: HttpClientOptions = local): HttpClient {
  const client = createHttpClient(options);
  t.teardown(() => client.close());
  return client;
}

/** A look-up that answers from a list and remembers what it was asked. */
export function answering(...answers: string[][]): LookupFunction & { asked: string[] } {
  const asked: string[] = [];
  const lookup: LookupFunction = (host, _options, callback) => {
    const addresses = answers[Math.min(asked.length, answers.length - 1)] ?? [];
    asked.push(host);
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };
  return Object.assign(lookup, { asked });
}
