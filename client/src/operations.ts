/** What each operation takes and gives, read from the generated types. */
import type { paths } from './schema.ts';

export type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
/** The paths that have an operation of this method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];
export type Operation<P extends keyof paths, M extends Method> = M extends keyof paths[P] ? paths[P][M] : never;

type Bytes = Blob | ArrayBuffer | Uint8Array<ArrayBuffer>;
type Sent<C> = { [T in keyof C]: T extends 'application/json' ? C[T] : Bytes }[keyof C];
type Body<O> = O extends { requestBody: { content: infer C } }
  ? { body: Sent<C> }
  : O extends { requestBody?: infer R }
    ? NonNullable<R> extends { content: infer C }
      ? { body?: Sent<C> }
      : { body?: never }
    : { body?: never };
type Parameters<O> = O extends { parameters: infer A }
  ? Pick<A, Extract<keyof A, 'path' | 'query'>>
  : { path?: never; query?: never };

/** What goes with every request. */
export interface Extras {
  headers?: Record<string, string>;
  signal?: AbortSignal;
  /** One's own key instead of a random one, so that the same work begun by another process counts as a repeat. */
  idempotencyKey?: string;
}
export type RequestOf<O> = Parameters<O> & Body<O> & Extras;
/** The request may be left out where nothing in it is required. */
export type Arguments<O> =
  Partial<RequestOf<O>> extends RequestOf<O> ? [request?: RequestOf<O>] : [request: RequestOf<O>];

type Success<O> = O extends { responses: infer R } ? R[Extract<keyof R, 200 | 201 | 202 | 204>] : never;
type Shown<C> = {
  [T in keyof C]: T extends 'application/json'
    ? C[T]
    : T extends 'text/event-stream'
      ? ReadableStream<Uint8Array>
      : T extends `text/${string}`
        ? string
        : ReadableStream<Uint8Array>;
}[keyof C];
/** JSON as the document says, texts as strings, and everything else as a stream. */
export type AnswerOf<O> =
  Success<O> extends { content?: infer C } ? ([C] extends [never] ? undefined : Shown<C>) : undefined;

type RowsOf<B> = {
  [K in Exclude<keyof B, 'deleted'>]: B[K] extends readonly (infer T)[] ? T : never;
}[Exclude<keyof B, 'deleted'>];
/** One row of a list, whatever its answer calls them. */
export type RowOf<O> = AnswerOf<O> extends infer B ? (B extends object ? RowsOf<B> : never) : never;
type ListWith<K extends string> = {
  [P in PathOf<'get'>]: Operation<P, 'get'> extends { parameters: { query?: infer Q } }
    ? [NonNullable<Q>] extends [never]
      ? never
      : K extends keyof NonNullable<Q>
        ? P
        : never
    : never;
}[PathOf<'get'>];
/** The lists of which `fields` selects some of each row. */
export type SelectablePath = ListWith<'fields'>;
/** An operation whose request names no `fields`. */
export type Whole<O> = O extends { parameters: { query?: infer Q } }
  ? 'fields' extends keyof NonNullable<Q>
    ? Omit<O, 'parameters'> & {
        parameters: Omit<O['parameters'], 'query'> & {
          query?: Omit<NonNullable<Q>, 'fields'> & { fields?: undefined };
        };
      }
    : O
  : O;
/** A row with `id` and the chosen fields. */
export type Selected<T> = T extends { id: unknown } ? Partial<T> & Pick<T, 'id'> : Partial<T>;
/** The answer of a list whose request may name `fields`. */
export type SelectedAnswerOf<O> = AnswerOf<O> extends infer B ? (B extends object ? SelectedRows<B> : never) : never;
type SelectedRows<B> = {
  [K in keyof B]: K extends 'deleted' ? B[K] : B[K] extends readonly (infer T)[] ? Selected<T>[] : B[K];
};
/** The lists that can be walked by cursor. */
export type ListPath = ListWith<'cursor'>;
/** The lists that tell what has changed in them. */
export type FollowedPath = ListWith<'updatedSince'>;
/** The streams of server-sent events. */
export type StreamPath = {
  [P in PathOf<'get'>]: Operation<P, 'get'> extends {
    responses: { 200: { content: { 'text/event-stream': unknown } } };
  }
    ? P
    : never;
}[PathOf<'get'>];
