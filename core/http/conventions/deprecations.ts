/** `Deprecation`, `Sunset` and `Link` of routes that callers should leave (RFC 9745, RFC 8594, RFC 8288). */
import type { AnyRoute } from '../../contract/index.ts';

/** Empty for a route that stays. Throws RangeError for a date that is none. */
export function deprecationFields({ deprecated }: AnyRoute): Record<string, string> {
  if (!deprecated) return {};
  const { since, sunset, instead } = deprecated;
  return {
    deprecation: `@${Math.floor(new Date(since).getTime() / 1000)}`,
    ...(sunset ? { sunset: new Date(sunset).toUTCString() } : {}),
    ...(instead ? { link: `<${instead}>; rel="successor-version"` } : {}),
  };
}
