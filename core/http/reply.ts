/** What a handler returns when the body alone does not say it all: status, headers, cookies, raw text. */

export interface CookieOptions {
  value: string | null;
  maxAgeSeconds?: number;
  path: string;
  /** `Lax` where another site's redirect must bring it back; default `Strict`. */
  sameSite?: 'Strict' | 'Lax';
}
export interface ReplyOptions {
  status?: number;
  headers?: Record<string, string>;
  cookies?: Record<string, CookieOptions>;
  type?: string;
  /**
   * For a stream that lasts: ends it. Called when the caller would not be let in any more or would reach something else
   * (session or key revoked, role or organizations changed), and when the server stops.
   */
  live?: () => void;
}

export class Reply {
  readonly body: unknown;
  readonly options: ReplyOptions;

  constructor(body: unknown, options: ReplyOptions) {
    this.body = body;
    this.options = options;
  }
}

/**
 * A body with its status, headers, cookies (`value: null` clears one) or content type. A Readable is streamed
 * and destroyed when the caller goes away; it must not need the work's transaction, which has ended by then.
 */
export const reply = (body: unknown, options: ReplyOptions = {}): Reply => new Reply(body, options);
