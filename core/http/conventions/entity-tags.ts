/** `ETag`, `If-None-Match` and `If-Match`: which state of a resource an answer shows, and which one a write is about (RFC 9110). */
import { createHash } from 'node:crypto';
import type { Context } from '../../context/index.ts';
import type { AnyRoute, Input } from '../../contract/index.ts';
import { defineError, ValidationFailed } from '../../errors.ts';
import { Reply } from '../reply.ts';
import { keysOf } from '../schema-parts.ts';
import { asSent } from './field-selection.ts';

export const PreconditionFailed = defineError(
  'PRECONDITION_FAILED',
  412,
  'The resource has changed since the state that If-Match names',
);
export const PreconditionRequired = defineError(
  'PRECONDITION_REQUIRED',
  428,
  'This installation wants If-Match with every change: read the resource first',
);

const WRITES = new Set(['PATCH', 'PUT', 'DELETE']);
const digest = (text: string) => createHash('sha256').update(text).digest('base64url').slice(0, 22);
const bodyOf = (answer: unknown): unknown => (answer instanceof Reply ? answer.body : answer);

/** Whether a GET shows one resource, and not a list or something whose reading is recorded. */
function showsResource(route: AnyRoute): boolean {
  if (route.method !== 'GET' || route.produces || route.work === 'none' || typeof route.audit === 'string')
    return false;
  const keys = keysOf(route.response);
  return !keys.includes('pagination') && !keys.includes('nextCursor') && !('agent' in route.access);
}

/** How a resource is read, and which fields of the answer people change: those that the writes at its path take. */
export interface Reading {
  route: AnyRoute;
  fields: ReadonlySet<string>;
}

/** Gives each route of a resource the GET that shows it. */
export function withReads<T extends { route: AnyRoute }>(tags: readonly T[]): (T & { read?: Reading })[] {
  const writes = Map.groupBy(
    tags.map(({ route }) => route).filter(({ method }) => WRITES.has(method)),
    ({ path }) => path,
  );
  const reads = new Map<string, Reading>();
  for (const { route } of tags) {
    const changes = writes.get(route.path);
    if (!changes || !showsResource(route)) continue;
    const taken = changes.flatMap(({ payload }) => keysOf(payload));
    reads.set(route.path, { route, fields: new Set(taken) });
  }
  return tags.map((tag) => {
    const read = reads.get(tag.route.path);
    return read && tag.route.method !== 'POST' ? { ...tag, read } : tag;
  });
}

/**
 * The tag of an answer: of what people change in it, a point, and of all of it.
 * @param text the same as it is sent
 */
export function entityTag({ fields }: Reading, body: object, text: string): string {
  const { data = body } = body as { data?: object };
  const shown = Object.entries(asSent(data));
  return `${digest(JSON.stringify(shown.filter(([name]) => fields.has(name))))}.${digest(text)}`;
}

/** What `If-Match` compares: a heartbeat meanwhile is no reason to refuse a new name. */
const state = (tag: string): string => tag.split('.')[0] ?? tag;

/** The tags of a header, without quotes and without what compression has added to them; null for `*`. */
function tagsOf(header: string): Set<string> | null {
  if (header.trim() === '*') return null;
  const tags = new Set<string>();
  for (const part of header.split(',')) {
    const [, tag] = /^\s*(?:W\/)?"([\w.-]+?)(?:-(?:gzip|deflate|br))?"\s*$/.exec(part) ?? [];
    if (!tag) {
      const message = 'If-Match is *, or entity tags in quotes';
      throw ValidationFailed({ message, details: [{ in: 'headers', path: 'if-match', message }] });
    }
    tags.add(state(tag));
  }
  return tags;
}

/** The tag of the resource at this moment, within the work of a write. */
export async function currentTag(ctx: Context, read: Reading, input: Input): Promise<string> {
  const query = read.route.query ? read.route.query.validate({}).value : {};
  const body = bodyOf(await read.route.handler(ctx, { ...input, query, payload: null })) as object;
  return entityTag(read, body, JSON.stringify(body));
}

/**
 * Before a write: throws PRECONDITION_FAILED where the resource is not in a state that `If-Match` names, and
 * PRECONDITION_REQUIRED where one must be named. Writers that name a state take turns; those that name none do not wait.
 */
export async function mustMatch(ctx: Context, route: AnyRoute, read: Reading | undefined, input: Input): Promise<void> {
  const header = input.headers['if-match'];
  if (!WRITES.has(route.method)) return;
  if (header === undefined) {
    const { requireIfMatch } = ctx.services.config.http;
    if (requireIfMatch && read && route.method !== 'DELETE') throw PreconditionRequired();
    return;
  }
  if (!read || route.work === 'none') {
    const message = 'If-Match has no meaning here: nothing at this path has an entity tag';
    throw ValidationFailed({ message, details: [{ in: 'headers', path: 'if-match', message }] });
  }
  const tags = tagsOf(header);
  await ctx.sql('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `if-match ${route.path} ${JSON.stringify(input.params)}`,
  ]);
  const current = await currentTag(ctx, read, input);
  if (tags && !tags.has(state(current))) throw PreconditionFailed({ headers: { etag: `"${current}"` } });
}
