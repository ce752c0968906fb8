/** What a handler returns when the body alone does not say it all: status, headers, cookies, raw text. */

export interface CookieOptions {
  value: string | null;
  maxAgeSeconds?: number;
  path: string;
}
export interface ReplyOptions {
  status?: number;
  headers?: Record<string, string>;
  cookies?: Record<string, CookieOptions>;
  type?: string;
}

export class Reply {
  readonly body: unknown;
  readonly options: ReplyOptions;

  constructor(body: unknown, options: ReplyOptions) {
    this.body = body;
    this.options = options;
  }
}

/** A body with its status, headers, cookies (`value: null` clears one) or content type. */
export const reply = (body: unknown, options: ReplyOptions = {}): Reply => new Reply(body, options);
