/** The signature of the HTTP client for requests to other servers. */

export interface Requests {
  /**
   * Checks a URL before it is stored: throws UrlBlockedError for one that `request` would refuse. A name that cannot be
   * resolved now passes. Asks the name server, so do not call it within a transaction.
   */
  check(url: string): Promise<void>;
  /** Throws UrlBlockedError (`URL_BLOCKED`) or UpstreamError (`UPSTREAM_ERROR`). Do not call it within a transaction. */
  request(
    url: string,
    options?: {
      method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
      headers?: Record<string, string>;
      body?: string | Buffer;
      /** Milliseconds for the whole exchange. */
      timeoutMs?: number;
      /** Maximum size of the response in bytes. */
      maxBytes?: number;
      maxRedirects?: number;
      signal?: AbortSignal;
      /** Receives the body of a 2xx response in chunks, for bodies too large for memory; `body` is empty then. */
      sink?: (chunk: Uint8Array) => void;
    },
  ): Promise<{
    status: number;
    headers: Record<string, string | string[] | undefined>;
    body: Buffer;
    text(): string;
    json(): unknown;
  }>;
}
