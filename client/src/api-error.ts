/** What the API said when it refused a request. */
import type { components } from './schema.ts';

type Envelope = components['schemas']['Error'];
/** The codes of this version of the API; `UNRECOGNIZED` where an answer has none, as from a proxy in between. */
export type ErrorCode = Envelope['error']['code'] | 'UNRECOGNIZED';

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** Stable, and what to decide by; a server newer than this client may send one that the type does not list. */
  readonly code: ErrorCode;
  /** For validation: which part of the request is wrong, and why. */
  readonly details: readonly unknown[];
  /** Stands in the logs of the server, too. */
  readonly requestId: string | undefined;
  readonly response: Response;

  constructor(response: Response, body: unknown) {
    const error = body && typeof body === 'object' && 'error' in body ? (body as Partial<Envelope>).error : undefined;
    super(error?.message ?? `${response.status} ${response.statusText}`.trim());
    this.status = response.status;
    this.code = error?.code ?? 'UNRECOGNIZED';
    this.details = error?.details ?? [];
    this.requestId = response.headers.get('x-request-id') ?? undefined;
    this.response = response;
  }
}
