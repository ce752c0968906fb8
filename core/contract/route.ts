/** A route: one operation of the API. */
import type Joi from 'joi';
import type { Config } from '#config';
import type { Context } from '../context/context.ts';
import type { Services } from '../context/services.ts';
import type { Access } from './access.ts';

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
  /**
   * What is counted apart: the caller's source (an IPv4 address or an IPv6 /64), or a part of the input. Null: this limit does
   * not hold for the request.
   */
  by: 'ip' | 'actor' | ((input: Input<P, Q, B>, source: string, services: Pick<Services, 'mac'>) => string | null);
  message?: string;
  /** Counted before the body is read, so that attempts with an invalid body count. For open routes, and limits by `ip`. */
  beforeBody?: true;
  /** While the counter store is away: 503, or counted by each process for itself, which is the default. */
  whenAway?: 'refuse' | 'local';
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
  /** Codes of the errors it can answer with, beside those that the core gives by what stands here (`document/errors-of-route`). */
  errors?: string[];
  limits?: Limit<P, Q, B>[];
  /** While it gives an answer, that is the answer to every request, before a limit is counted or the body is read. */
  closed?: (config: Config) => { status: number; body: object } | null;
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
/** Refuses a schema that has no type: `Joi.object<SiteCreate>({…})` instead of `Joi.object({…})`. */
type Typed<T, Part extends string> = 0 extends 1 & T ? { [key in Part]: 'has no type' } : unknown;
/** The types of a handler's input follow from the schemas of the route, so handlers state none. */
export const defineRoute = <P = unknown, Q = unknown, B = unknown>(
  route: Route<P, Q, B> & Typed<P, 'params'> & Typed<Q, 'query'> & Typed<B, 'payload'>,
): AnyRoute => route;
