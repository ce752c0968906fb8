/** Which servers a plugin may call: those of its manifest, or those that its configuration names. */

export type EgressRule = string | { fromConfig: string };

/** `api.example.com`, `*.example.com` (any depth, not example.com itself), each with an optional port. */
export const EGRESS_PATTERN =
  '^(\\*\\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z][a-z0-9-]{0,61}[a-z0-9](:[0-9]{1,5})?$';

/** Why the URL may not be called under these rules; null where it may. What lies behind the name is the host's to check. */
export function egressFault(
  target: string,
  rules: readonly EgressRule[],
  config: Record<string, unknown>,
): string | null {
  const url = URL.parse(target);
  if (!url) return 'That is not a URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return `${url.protocol} is not called`;
  if (url.username || url.password) return 'A URL must not carry credentials';
  for (const rule of rules) {
    if (typeof rule === 'string' ? matches(url.host, rule) : url.origin === originOf(config[rule.fromConfig]))
      return null;
  }
  return `${url.host} is not among the servers that the manifest declares`;
}

function matches(host: string, pattern: string): boolean {
  if (!pattern.startsWith('*.')) return host === pattern;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}

function originOf(value: unknown): string | null {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url && (url.protocol === 'https:' || url.protocol === 'http:') ? url.origin : null;
}
