/** What a module declares whose callers stay connected: the part of the contract for sockets. */
import type Joi from 'joi';
import type { WebSocket } from 'ws';
import type { Config } from '#config';
import type { Actor } from '../context/actor.ts';
import type { Context } from '../context/context.ts';
import type { Scope } from '../context/scope.ts';
import type { Services } from '../context/services.ts';
import type { Access } from './access.ts';
import type { Limit } from './route.ts';

/** Fills `http.socket`: a path below /api/v1 whose callers stay connected. Its upgrade is admitted as a request would be. */
export interface SocketEndpoint {
  path: string;
  summary: string;
  access: Access;
  params: Joi.ObjectSchema;
  limits?: Limit[];
  /** Larger frames end the connection (1009). */
  maxFrameBytes: number;
  /** Sockets that one process holds; more are refused with 503. */
  most(config: Config): number;
  /** The socket has no listeners yet; it is closed with 1012 when the process stops. */
  open(link: SocketLink): void;
}
export interface SocketLink {
  readonly socket: WebSocket;
  readonly actor: Actor;
  readonly scope: Scope;
  readonly params: Record<string, string>;
  /** Of the upgrade; keep no tokens from them. */
  readonly headers: Record<string, string | undefined>;
  readonly services: Pick<Services, 'config' | 'get' | 'counters'>;
  /** Counts an event under /metrics; a word from a fixed list. */
  count(event: string): void;
  /** One piece of work as the caller, as a route's handler has it. Whether the caller may still, the module decides. */
  work<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
}
