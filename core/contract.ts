/** The module contract: what a feature may declare, and the identity helpers that give each declaration its type. */
import type Joi from 'joi';
import type { WebSocket } from 'ws';
import type { Config } from '#config';
import type { Actor, Context, PlatformDoors, Scope } from './context.ts';

// ---- maps that modules widen: `declare module '#core/contract' { interface Apis { devices: ... } }`

// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Apis {}
// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Events {}
// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Jobs {}
/** Slots of the core; modules add their own. */
export interface Slots {
  'auth.agent': AgentAuthenticator;
  'http.socket': SocketEndpoint;
}
export type EventName = keyof Events & string;
export type JobName = keyof Jobs & string;
export type JobPayload<N extends JobName> = Jobs[N];

export interface AgentIdentity {
  deviceId: string;
  agentId: string;
  orgId: string;
  siteId: string | null;
  partnerId: string;
  role: 'agent' | 'watchdog' | 'helper';
  hostname: string;
}
export interface AgentRequest {
  agentId: string;
  token: string;
  route: AgentAccess;
  ip: string;
  platform: Pick<PlatformDoors, 'services' | 'counters'>;
}
/** Fills `auth.agent`: says which device a bearer token belongs to, or throws the error the agent must see. */
export interface AgentAuthenticator {
  authenticate(request: AgentRequest): Promise<AgentIdentity>;
}

// ---- module

export interface Module {
  name: string;
  title: string;
  summary: string;
  requires: string[];
  /** Cannot be switched off. */
  core?: boolean;
  default?: 'on' | 'off';
  permissions: string[];
  audits: string[];
  events?: string[];
  slots?: string[];
  settings?: Joi.ObjectSchema;
  api?(ctx: Context): object;
  start?(services: StartServices): Promise<void> | void;
  stop?(): Promise<void> | void;
}
export interface StartServices {
  readonly services: Map<string, unknown>;
  /** Work on the platform's role that no request or job asked for (caches, watchers). */
  asPlatform<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
  onNotice(channel: string, listener: (payload: string) => void): void;
  onNoticesLost(listener: () => void): void;
}
export const defineModule = (module: Module): Module => module;

// ---- access

export interface AgentAccess {
  roles: ('agent' | 'watchdog' | 'helper')[];
  /** States besides `active` in which the device may still call this. */
  also?: ('quarantined' | 'decommissioned')[];
  /** Stays open while the organization is suspended, so that agents can be drained (domain/agents, section 3). */
  suspended?: boolean;
}
export type Access =
  | {
      /** `resource:action` of spec/1-identity; null for any signed-in caller, with the reason. */
      permission: string | null;
      why?: string;
      /** Caller scopes that may call; all three when absent. */
      scopes?: Scope['kind'][];
      mfa?: boolean;
      /** False where an API key is never accepted. */
      apiKey?: boolean;
      /** True on what a user of a Force MFA role needs in order to enroll. */
      beforeMfa?: boolean;
    }
  | { agent: AgentAccess }
  | { portal: true }
  | { open: string };

// ---- route

export interface Input<P = unknown, Q = unknown, B = unknown> {
  params: P;
  query: Q;
  payload: B;
  headers: Record<string, string | undefined>;
  cookies: Record<string, string | undefined>;
}
export interface Limit<P = unknown, Q = unknown, B = unknown> {
  name: string;
  max: number;
  windowSeconds: number;
  /** What is counted apart: the caller's address, or a part of the input. */
  by: 'ip' | 'actor' | ((input: Input<P, Q, B>, ip: string) => string);
  message?: string;
  /** When the counter store is away: 503, or let through. Default let through. */
  whenAway?: 'refuse' | 'allow';
}
interface RouteBase<P, Q, B> {
  path: string;
  summary: string;
  description?: string;
  /** For the API document, where the id made from method and path is another route's. */
  operationId?: string;
  access: Access;
  params?: Joi.ObjectSchema<P>;
  query?: Joi.ObjectSchema<Q>;
  payload?: Joi.Schema<B>;
  /** For hot paths: bodies for which this is true need no look by the schema, because it would not change them. */
  plain?: (body: unknown) => boolean;
  response: Joi.Schema;
  /** Media types of the answer, for the API document; `application/json` by the response schema when absent. */
  produces?: string[];
  status?: number;
  /** Further statuses this route answers with, for the API document. */
  errors?: string[];
  limits?: Limit<P, Q, B>[];
  /** For what creates work: honours the header `Idempotency-Key`. The answer is kept for a day: it must hold no secret. */
  idempotent?: true;
  /** Largest body in bytes; 1 MiB when absent. */
  maxBytes?: number;
  /** 'tenant' (default) runs under row-level security; 'none' opens no transaction; platform needs a reason. */
  work?: 'tenant' | 'none' | { platform: string };
  handler(ctx: Context, input: Input<P, Q, B>): Promise<unknown> | unknown;
}
interface ReadRoute<P, Q, B> extends RouteBase<P, Q, B> {
  method: 'GET';
  audit?: string | { none: string };
}
interface WriteRoute<P, Q, B> extends RouteBase<P, Q, B> {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  audit: string | { none: string };
}
export type Route<P = unknown, Q = unknown, B = unknown> = ReadRoute<P, Q, B> | WriteRoute<P, Q, B>;
// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds routes of every input type
export type AnyRoute = Route<any, any, any>;
export const defineRoute = <P = unknown, Q = unknown, B = unknown>(route: Route<P, Q, B>): AnyRoute => route;

// ---- socket

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
  readonly platform: Pick<PlatformDoors, 'config' | 'services' | 'counters'>;
  /** Counts an event under /metrics; a word from a fixed list. */
  count(event: string): void;
  /** One piece of work as the caller, as a route's handler has it. Whether the caller may still, the module decides. */
  work<T>(run: (ctx: Context) => Promise<T>): Promise<T>;
}

// ---- job, subscriber, slot, batch

export type Schedule =
  /** Five cron fields, UTC. */
  | { cron: string }
  /** Seconds; divides 60. */
  | { every: number };
export interface Job<T = unknown> {
  name: string;
  summary: string;
  scope: 'tenant' | 'platform';
  payload: Joi.ObjectSchema<T>;
  schedule?: Schedule;
  maxAttempts: number;
  queue?: string;
  run(ctx: Context, payload: T): Promise<void>;
}
// biome-ignore lint/suspicious/noExplicitAny: a registry holds jobs of every payload type
export type AnyJob = Job<any>;
export const defineJob = <T>(job: Job<T>): AnyJob => job;

export interface DomainEvent<D = unknown> {
  id: string;
  name: string;
  orgId: string | null;
  siteId: string | null;
  deviceId: string | null;
  occurredAt: string;
  actor: { kind: string; id: string | null };
  data: D;
}
export interface Subscriber<E extends EventName = EventName> {
  on: E;
  summary: string;
  maxAttempts?: number;
  run(ctx: Context, event: DomainEvent<Events[E]>): Promise<void>;
}
export type AnySubscriber = Omit<Subscriber<never>, 'run' | 'on'> & {
  on: string;
  // biome-ignore lint/suspicious/noExplicitAny: a registry holds subscribers of every event
  run(ctx: Context, event: any): Promise<void>;
};
export const defineSubscriber = <E extends EventName>(subscriber: Subscriber<E>): AnySubscriber => subscriber;

export interface Filling<S extends keyof Slots = keyof Slots> {
  slot: S;
  value: Slots[S];
}
export const defineFilling = <S extends keyof Slots>(filling: Filling<S>): Filling => filling as Filling;

/** Group commit: items that arrive while a batch is being written form the next one. */
export interface Batch<I, O> {
  name: string;
  maxSize: number;
  /** Each statement of `run` commits by itself, which saves two round trips; only where each may stand alone. */
  autocommit?: true;
  run(sql: Context['sql'], items: readonly I[]): Promise<readonly O[]>;
}
export const defineBatch = <I, O>(batch: Batch<I, O>): Batch<I, O> => batch;
