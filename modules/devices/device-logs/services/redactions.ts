/** Removes secrets from what agents write, before it is stored. */
import { redact } from '#core/audit';
import { cleaned } from '../models/written-values.ts';

/** `token=…`, `password: …`, `Authorization: Bearer …` and tokens by their form, within free text. */
const SECRETS =
  /\b(svc_[A-Za-z0-9_-]{16,}|(?:bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,})|\b((?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;]+/gi;

/** Removes secrets from a line of text. */
export function redactLine(line: string): string {
  return line.replace(SECRETS, (_match, _token, label?: string) => `${label ?? ''}[REDACTED]`);
}

/** JSON for a jsonb column: without secrets by key or within texts, and without characters that jsonb does not accept. */
export function redactMetadata(value: Record<string, unknown> | null | undefined): string | null {
  return value ? JSON.stringify(redact(storable(value))) : null;
}

function storable(value: unknown): unknown {
  if (typeof value === 'string') return redactLine(cleaned(value));
  if (Array.isArray(value)) return value.map(storable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [cleaned(key), storable(inner)]));
}
