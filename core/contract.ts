/** The module contract: what a feature may declare, and the identity helpers that give each declaration its type. */
import type Joi from 'joi';
import type { Config } from '#config';
import type { Context, PlatformDoors, Scope } from './context.ts';
import type { SocketEndpoint } from './socket-contract.ts';

/**
 * What `quartermaster.contract` of a module package must admit (semver). A field more is a minor version; a field that is gone,
 * or that means something else, is a major one: so is a change of the door.
 */
export const CONTRACT_VERSION = '1.0.0';

// ---- maps that modules widen: `declare module '#core/contract' { interface Apis { devices: ... } }`

// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Apis {}
// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Events {}
// biome-ignore lint/suspicious/noEmptyInterface: widened by modules
export interface Jobs {}
/** Slots of the core; modules add their own. */
export interface Slots {
  'admin.command': AdminCommand;
  'auth.agent': AgentAuthenticator;
  'events.outbox': EventOutbox;
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

export {
  defineModule,
  type Module,
  type ModuleLevel,
  type ModulePlace,
  type OutgoingMessage,
  type StartServices,
} from './manifest.ts';

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
      /** A scope of API keys that opens this as well as the permission does. */
      keyScope?: string;
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
  /** Aborted when the caller goes away before it has its answer. */
  readonly gone: AbortSignal;
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
  /** Further statuses that it answers with by itself, each with the schema of that answer. */
  answers?: Record<number, Joi.Schema>;
  /** Codes of the errors it can answer with, beside those that the core gives by what stands here (`document/refusals`). */
  errors?: string[];
  limits?: Limit<P, Q, B>[];
  /** Largest body in bytes; 1 MiB when absent. A removal takes a body where it declares a payload. */
  maxBytes?: number;
  /** Takes bodies of this media type too, of any size up to `maxBytes`: handed on unread as a BodyStream. */
  stream?: { type: string; maxBytes(config: Config): number };
  /** The handler heeds `Idempotency-Key` by `onceForKey`, where the work of the route is none; all else core does. */
  idempotent?: 'handler';
  /** Says with every answer that callers should move on: since when, until when it works (dates), and what takes its place. */
  deprecated?: { since: string; sunset?: string; instead?: string };
  /** 'tenant' (default) runs under row-level security; 'none' opens no transaction; platform needs a reason. */
  work?: 'tenant' | 'none' | { platform: string };
  handler(ctx: Context, input: Input<P, Q, B>): Promise<unknown> | unknown;
}
/** A request to an operation and what it really answered, recorded by a test (a module's `examples.json`). */
export interface OperationExample {
  request: { path?: Record<string, unknown>; query?: Record<string, unknown>; body?: unknown };
  status: number;
  answer?: unknown;
}
interface ReadRoute<P, Q, B> extends RouteBase<P, Q, B> {
  method: 'GET';
  audit?: string | { none: string };
}
interface WriteRoute<P, Q, B> extends RouteBase<P, Q, B> {
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The action that must be recorded, or one of several. */
  audit: string | { none: string } | { oneOf: readonly [string, ...string[]] };
}
export type Route<P = unknown, Q = unknown, B = unknown> = ReadRoute<P, Q, B> | WriteRoute<P, Q, B>;
// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds routes of every input type
export type AnyRoute = Route<any, any, any>;
/** The actions of which one must be recorded; none where the route says why it records none. */
export function auditsOf({ audit }: Pick<AnyRoute, 'audit'>): readonly string[] {
  if (typeof audit === 'string') return [audit];
  return audit && 'oneOf' in audit ? audit.oneOf : [];
}
export const defineRoute = <P = unknown, Q = unknown, B = unknown>(route: Route<P, Q, B>): AnyRoute => route;

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
  /** Somebody waits for it: it counts as late after 10 s instead of a minute. */
  interactive?: true;
  queue?: string;
  /** Why it runs also where its module is off, as what retention and halves of a change must; else it is skipped there. */
  whenOff?: string;
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

/**
 * Fills `events.outbox`: hears of every event, whichever module emits it, within the commit of what happened. Cheaper than
 * a subscriber, which costs a job an event.
 */
export interface EventOutbox {
  /** A function of the database that takes a jsonb array of what `take` returned; it must not fail for any of it. */
  into: string;
  /** What the function is to be given of an event; null for nothing. Must not throw: the change would be undone. */
  take(ctx: Context, event: Omit<DomainEvent, 'occurredAt'>): object | null;
}

/** Fills `admin.command`: what whoever has a shell on the server may do by `npm run admin -- NAME …`. */
export interface AdminCommand {
  name: string;
  /** A line for each form, from after the name on. */
  usage: readonly string[];
  /** One transaction of the platform's role, audited as the system's. Returns what is printed; null shows the usage. */
  run(ctx: Context, args: readonly string[]): Promise<string | null>;
}

export interface Filling<S extends keyof Slots = keyof Slots> {
  slot: S;
  value: Slots[S];
}
export const defineFilling = <S extends keyof Slots>(filling: Filling<S>): Filling => filling as Filling;

/** Group commit: items that arrive while a batch is being written form the next one. */
export interface Batch<I, O> {
  name: string;
  maxSize: number;
  /**
   * For a steady stream of small items: a batch that is not yet worth its while (`enough` items) waits until so many
   * milliseconds have passed since the one before. The first after a pause does not wait.
   */
  pace?: { everyMs: number; enough: number };
  /** Each statement of `run` commits by itself, which saves two round trips; only where each may stand alone. */
  autocommit?: true;
  run(sql: Context['sql'], items: readonly I[]): Promise<readonly O[]>;
}
export const defineBatch = <I, O>(batch: Batch<I, O>): Batch<I, O> => batch;
