/** Names the state that a change is about, where the client has read the resource: who changed it meanwhile is not overwritten. */
import type { Middleware } from 'openapi-fetch';
import { TAGGED_OPERATIONS } from './keyed-operations.ts';

/** Resources whose tags are kept; the one that was read first is forgotten first. */
const MAX_TAGS = 1_000;

/** Sends `If-Match` with a change of a resource that was read, and keeps the tags of answers. */
export function entityTags(): Middleware {
  const tags = new Map<string, string>();
  const keep = (path: string, tag: string) => {
    tags.delete(path);
    tags.set(path, tag);
    const [first] = tags.keys();
    if (tags.size > MAX_TAGS && first !== undefined) tags.delete(first);
  };
  /** What is done to a part of a resource, or by an action below it, may change its state. */
  const forgetAbove = (path: string) => {
    for (let above = path; above.includes('/'); above = above.slice(0, above.lastIndexOf('/'))) tags.delete(above);
  };
  return {
    onRequest({ request, schemaPath }) {
      if (request.method === 'GET') return;
      const path = new URL(request.url).pathname;
      const known = tags.get(path);
      // A tag serves once: of two changes under way, the second is not held against the state before the first.
      forgetAbove(path);
      if (known === undefined || request.headers.has('if-match')) return;
      if (TAGGED_OPERATIONS.has(`${request.method} ${schemaPath}`)) request.headers.set('If-Match', known);
    },
    onResponse({ request, response }) {
      const tag = response.headers.get('etag');
      const path = new URL(request.url).pathname;
      if (response.ok && tag) keep(path, tag);
      // Until the resource is read again, a further attempt is refused as well.
      const refused = request.headers.get('if-match');
      if (response.status === 412 && refused) keep(path, refused);
    },
  };
}
