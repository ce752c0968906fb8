/** The client: one method for each of HTTP's, and iterations over lists and streams. */
import createFetchClient, { type Client as FetchClient } from 'openapi-fetch';
import { ApiError } from './api-error.ts';
import type { Credentials } from './credentials.ts';
import { entityTags } from './entity-tags.ts';
import { KEYED_OPERATIONS } from './keyed-operations.ts';
import type {
  AnswerOf,
  Arguments,
  Extras,
  FollowedPath,
  ListPath,
  Method,
  Operation,
  PathOf,
  RowOf,
  SelectablePath,
  Selected,
  SelectedAnswerOf,
  StreamPath,
  Whole,
} from './operations.ts';
import { BASE_MS, type Fetch, type Retries, retrying } from './retries.ts';
import type { paths } from './schema.ts';
import { follow, type StreamEvent } from './streams.ts';
import type { WebhookEvent } from './webhooks.ts';

export interface ClientOptions extends Credentials {
  /** Where the installation is, such as `https://rmm.example.com`. */
  baseUrl: string;
  /** Instead of the runtime's own. */
  fetch?: Fetch;
  retries?: Retries;
  /** Whether changes of resources that this client has read carry `If-Match`; true when not said. */
  ifMatch?: boolean;
}
export interface Changes<T> {
  /** New and changed rows. */
  data: T[];
  /** Rows that are not in the list any more. */
  deleted: { id: string; deletedAt: string }[];
  /** Where the next walk goes on. */
  cursor: string;
}
export interface FollowedEvent extends WebhookEvent {
  /** Where to go on after a restart. */
  streamId: string | undefined;
}
type Call<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...request: Arguments<Operation<P, M>>
) => Promise<AnswerOf<Operation<P, M>>>;
/** Rows that `fields` selects from have only those of their fields. */
interface Get {
  <P extends PathOf<'get'>>(
    path: P,
    ...request: Arguments<Whole<Operation<P, 'get'>>>
  ): Promise<AnswerOf<Operation<P, 'get'>>>;
  <P extends SelectablePath>(
    path: P,
    ...request: Arguments<Operation<P, 'get'>>
  ): Promise<SelectedAnswerOf<Operation<P, 'get'>>>;
}
interface Paginate {
  <P extends ListPath>(
    path: P,
    ...request: Arguments<Whole<Operation<P, 'get'>>>
  ): AsyncGenerator<RowOf<Operation<P, 'get'>>, void>;
  <P extends ListPath & SelectablePath>(
    path: P,
    ...request: Arguments<Operation<P, 'get'>>
  ): AsyncGenerator<Selected<RowOf<Operation<P, 'get'>>>, void>;
}
interface FollowChanges {
  <P extends FollowedPath>(
    path: P,
    ...request: Arguments<Whole<Operation<P, 'get'>>>
  ): AsyncGenerator<Changes<RowOf<Operation<P, 'get'>>>, void>;
  <P extends FollowedPath & SelectablePath>(
    path: P,
    ...request: Arguments<Operation<P, 'get'>>
  ): AsyncGenerator<Changes<Selected<RowOf<Operation<P, 'get'>>>>, void>;
}

export interface Client {
  /** Each gives the body of a good answer and throws ApiError for any other. */
  readonly get: Get;
  readonly post: Call<'post'>;
  readonly put: Call<'put'>;
  readonly patch: Call<'patch'>;
  readonly delete: Call<'delete'>;
  /** Every row of a list, page by page as they are needed. `limit` is the size of a page. */
  readonly paginate: Paginate;
  /**
   * What has changed in a list since `query.cursor`, which an earlier walk gave, and everything without one. Keep the cursor
   * of a page once its rows are kept. ApiError `CURSOR_EXPIRED` says that one must begin anew.
   */
  readonly changes: FollowChanges;
  /** What happens in the tenant: the messages that webhooks get. `lastEventId` is the `streamId` of an earlier one. */
  events(request?: {
    query?: NonNullable<Operation<'/events', 'get'>['parameters']['query']>;
    signal?: AbortSignal;
  }): AsyncGenerator<FollowedEvent, void>;
  /** Server-sent events, for as long as the signal does not abort; goes on behind the last one after an interruption. */
  stream<P extends StreamPath>(path: P, ...request: Arguments<Operation<P, 'get'>>): AsyncGenerator<StreamEvent, void>;
  /** The same requests with the answer's headers and without exceptions: `{ data, error, response }`. */
  readonly raw: FetchClient<paths>;
}

interface Plain extends Extras {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
}
type Untyped = (method: string, path: string, init: object) => Promise<{ error?: unknown; response: Response }>;
const isBytes = (body: unknown) => body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body);

async function read(response: Response): Promise<unknown> {
  const type = response.headers.get('content-type') ?? '';
  if (response.status === 204 || !response.body) return undefined;
  if (/^application\/json\b/.test(type)) return response.json();
  if (type.startsWith('text/') && !type.startsWith('text/event-stream')) return response.text();
  return response.body;
}

/** The rows of a page, and the position behind it. */
function pageIn(body: Record<string, unknown>): { rows: unknown[]; cursor: string | null } {
  const rows = Object.values(body).find(Array.isArray) ?? [];
  const { cursor } = (body.pagination ?? { cursor: body.nextCursor }) as { cursor?: string | null };
  return { rows, cursor: cursor ?? null };
}

/** Errors that another attempt would get too. */
const final = (fault: unknown) => fault instanceof ApiError && fault.status < 500 && fault.status !== 429;

type Send = (method: Method, path: string, request?: Plain) => Promise<unknown>;

export function createClient(options: ClientOptions): Client {
  const raw = rawClient(options);
  const send = sender(raw);
  const pauseMs = options.retries?.baseMs ?? BASE_MS;
  const methods: Method[] = ['get', 'post', 'put', 'patch', 'delete'];
  const calls = Object.fromEntries(
    methods.map((method) => [method, (path: string, request?: Plain) => send(method, path, request)]),
  );
  return {
    ...calls,
    paginate: (path: string, request?: Plain) => paginate(send, path, request),
    changes: (path: string, request?: Plain) => changes(send, path, request),
    events: (request?: Plain) => events(send, pauseMs, request),
    stream: (path: string, request?: Plain) => stream(send, pauseMs, path, request),
    raw,
  } as unknown as Client;
}

/** Requests with retries; operations that accept an idempotency key get one, which makes them safe to repeat. */
function rawClient(options: ClientOptions): FetchClient<paths> {
  const { baseUrl, fetch = (request: Request) => globalThis.fetch(request), retries = {} } = options;
  const repeatable = new WeakSet<Request>();
  const raw = createFetchClient<paths>({
    baseUrl: `${baseUrl.replace(/\/+$/, '')}/api/v1`,
    fetch: retrying(fetch, options, retries, (request) => request.method === 'GET' || repeatable.has(request)),
    // The API does not redirect, and a key must not follow to another host.
    redirect: 'manual',
    bodySerializer: (body) => (isBytes(body) ? body : JSON.stringify(body)),
  });
  raw.use({
    onRequest({ request, schemaPath }) {
      if (!KEYED_OPERATIONS.has(`${request.method} ${schemaPath}`)) return;
      if (!request.headers.has('idempotency-key')) request.headers.set('Idempotency-Key', crypto.randomUUID());
      repeatable.add(request);
    },
  });
  if (options.ifMatch ?? true) raw.use(entityTags());
  return raw;
}

/** Sends a request and returns the body of the answer; throws ApiError where the answer is not a success. */
function sender(raw: FetchClient<paths>): Send {
  return async (method, path, request = {}) => {
    const { path: named, query, body, headers, signal, idempotencyKey } = request;
    const { error, response } = await (raw.request as unknown as Untyped)(method, path, {
      params: { path: named, query },
      ...(body === undefined ? {} : { body }),
      ...(signal ? { signal } : {}),
      headers: {
        ...(isBytes(body) ? { 'Content-Type': 'application/octet-stream' } : {}),
        ...(idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }),
        ...headers,
      },
      // The body is not parsed here: `read` does that by its content type.
      parseAs: 'stream',
    });
    if (!response.ok) throw new ApiError(response, error);
    return read(response);
  };
}

async function* paginate(send: Send, path: string, request: Plain = {}): AsyncGenerator<unknown, void> {
  let cursor: unknown = request.query?.cursor ?? '';
  while (cursor !== null) {
    const query: Record<string, unknown> = { ...request.query, cursor };
    const page = pageIn((await send('get', path, { ...request, query })) as Record<string, unknown>);
    yield* page.rows;
    cursor = page.cursor;
  }
}

async function* changes(send: Send, path: string, request: Plain = {}): AsyncGenerator<Changes<unknown>, void> {
  const { cursor: from, ...rest } = request.query ?? {};
  let position = from === undefined ? { updatedSince: 'beginning', ...rest } : { ...rest, cursor: from };
  for (;;) {
    const page = (await send('get', path, { ...request, query: position })) as Omit<Changes<unknown>, 'cursor'> & {
      pagination: { hasMore: boolean; cursor: string };
    };
    const { hasMore, cursor } = page.pagination;
    yield { data: page.data, deleted: page.deleted, cursor };
    if (!hasMore) return;
    const { updatedSince: _, ...others } = position as Record<string, unknown>;
    position = { ...others, cursor };
  }
}

async function* stream(
  send: Send,
  pauseMs: number,
  path: string,
  request: Plain = {},
): AsyncGenerator<StreamEvent, void> {
  const { lastEventId, ...query } = request.query ?? {};
  const ended = new AbortController();
  const signal = request.signal ? AbortSignal.any([request.signal, ended.signal]) : ended.signal;
  const open = async (last: string | undefined) => {
    const headers = { ...request.headers, ...(last === undefined ? {} : { 'Last-Event-ID': last }) };
    return (await send('get', path, { ...request, query, headers, signal })) as ReadableStream<Uint8Array>;
  };
  try {
    const from = lastEventId === undefined ? undefined : String(lastEventId);
    yield* follow(open, from, { signal, final, pauseMs });
  } finally {
    ended.abort();
  }
}

async function* events(send: Send, pauseMs: number, request: Plain = {}): AsyncGenerator<FollowedEvent, void> {
  for await (const { id, data } of stream(send, pauseMs, '/events', request))
    yield { ...(data as WebhookEvent), streamId: id };
}
