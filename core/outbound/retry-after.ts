/** The `Retry-After` header of other servers. */

/** Seconds that a 429 or 503 asks for by `Retry-After` (RFC 9110), as a number or a date; null for none. */
export function retryAfterOf(status: number, header: string | string[] | undefined, now = Date.now()): number | null {
  if ((status !== 429 && status !== 503) || typeof header !== 'string') return null;
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? null : Math.max(0, (at - now) / 1000);
}
