/** Lines of plugins' logs as they are kept: bounded, and without what looks like a credential. */
import { MAX_LOG_FIELDS_BYTES, MAX_LOG_LENGTH } from '../limits.ts';

const SECRET_KEY = /secret|password|passphrase|token|api_?key|community|credential|authorization|cookie|private/i;
const SECRETS: readonly [RegExp, string][] = [
  [/(:\/\/[^:/@\s]+:)[^@\s]+@/g, '$1[REDACTED]@'],
  [/\b(bearer|basic)\s+[\w.~+/=-]{8,}/gi, '$1 [REDACTED]'],
  [/\b(password|passwd|secret|token|api[_-]?key|authorization)(["']?\s*[:=]\s*["']?)[^\s"',;&]+/gi, '$1$2[REDACTED]'],
  [/\b(svc|brz|qma|inv|enr)_[\w-]{12,}/g, '$1_[REDACTED]'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, '[REDACTED]'],
];

export const logMessage = (message: string): string =>
  SECRETS.reduce((text, [shape, instead]) => text.replace(shape, instead), message.replaceAll('\0', '')).slice(
    0,
    MAX_LOG_LENGTH,
  );

/** Null where there are none; of too many only their size is kept. */
export function logFields(fields: Record<string, unknown> | undefined): Record<string, unknown> | null {
  if (!fields || Object.keys(fields).length === 0) return null;
  const text = JSON.stringify(redacted(fields)).replaceAll('\\u0000', '').toWellFormed();
  const bytes = Buffer.byteLength(text);
  return bytes > MAX_LOG_FIELDS_BYTES ? { truncated: true, bytes } : (JSON.parse(text) as Record<string, unknown>);
}

function redacted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(redacted);
  if (value === null || typeof value !== 'object' || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      SECRET_KEY.test(key) && inner != null ? '[REDACTED]' : redacted(inner),
    ]),
  );
}

/** What is said once where a plugin says more than it may. */
export const tooManyLines = (perMinute: number): string =>
  `More than ${perMinute} lines within a minute: the rest is dropped`;
