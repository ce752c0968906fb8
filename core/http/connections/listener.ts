/** The server that hapi listens with: Node's own time limits, and a bound on connections of one source. */
import { createServer, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { sourceOf } from '../../counters/source.ts';
import { isPaced } from './body-deadline.ts';

/** Milliseconds for the header fields, from the start of the connection or the end of the request before. */
const HEADERS_MS = 10_000;
/** Milliseconds for a whole request. Bodies have stricter limits; this one also holds where nothing reads the body. */
const REQUEST_MS = 30_000;
/** Milliseconds between two looks at the limits above. */
const LOOK_MS = 2_000;

const REFUSED = 'HTTP/1.1 429 Too Many Requests\r\nretry-after: 10\r\ncontent-length: 0\r\nconnection: close\r\n\r\n';

export interface ListenerOptions {
  /** Connections of one source without an authenticated caller; 0 for any number. */
  maxPerSource: number;
  /** Connections of proxies carry the requests of many sources and are not counted. */
  isProxy(address: string): boolean;
}

/** The connections of each source without an authenticated caller. */
export class Connections {
  readonly #sources = new Map<string, number>();
  readonly #counted = new WeakMap<object, string>();
  readonly #options: ListenerOptions;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** Counts a new connection, or refuses it. */
  take(socket: Socket): void {
    const { maxPerSource, isProxy } = this.#options;
    const address = socket.remoteAddress;
    if (maxPerSource === 0 || !address || isProxy(address)) return;
    const source = sourceOf(address);
    const open = this.#sources.get(source) ?? 0;
    if (open >= maxPerSource) {
      socket.write(REFUSED);
      socket.destroySoon();
      return;
    }
    this.#sources.set(source, open + 1);
    this.#counted.set(socket, source);
    socket.once('close', () => this.release(socket));
  }

  /** The caller on this connection is known: behind one address there may be a site with thousands of agents. */
  release(socket: object): void {
    const source = this.#counted.get(socket);
    if (source === undefined) return;
    this.#counted.delete(socket);
    const open = (this.#sources.get(source) ?? 1) - 1;
    if (open > 0) this.#sources.set(source, open);
    else this.#sources.delete(source);
  }
}

export function createListener(connections: Connections): Server {
  const server = createServer({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: LOOK_MS,
  });
  return server.on('connection', (socket: Socket) => connections.take(socket));
}

/** Node's limit for a whole request ends no body that is limited by its pace. Called when hapi has added its own listener. */
export function sparePacedBodies(server: Server): void {
  const listeners = server.listeners('clientError') as ((error: Error, socket: Socket) => void)[];
  server.removeAllListeners('clientError');
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isPaced(socket)) return;
    for (const listener of listeners) listener(error, socket);
  });
}
