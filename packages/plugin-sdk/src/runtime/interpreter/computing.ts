/** Functions that only compute, which code in the interpreter reaches: URLs, formats, digests. Texts and bytes in and out. */
import { createHash, createHmac, randomBytes } from 'node:crypto';

const PARTS = [
  'href',
  'protocol',
  'username',
  'password',
  'host',
  'hostname',
  'port',
  'pathname',
  'search',
  'hash',
] as const;
type Part = (typeof PARTS)[number];
const isPart = (name: string): name is Part => PARTS.some((part) => part === name);
const HASHES: ReadonlySet<string> = new Set(['sha1', 'sha256', 'sha384', 'sha512']);
const MOST_FORMATTERS = 100;
const MOST_RANDOM = 65_536;

export function random(bytes: number): Uint8Array {
  if (!(bytes >= 0 && bytes <= MOST_RANDOM)) throw new RangeError(`At most ${MOST_RANDOM} bytes at once`);
  return randomBytes(bytes);
}

function mustBeHash(algorithm: string): string {
  if (!HASHES.has(algorithm)) throw new TypeError('That is no hash');
  return algorithm;
}

export const digest = (algorithm: string, data: Uint8Array): Uint8Array =>
  createHash(mustBeHash(algorithm)).update(data).digest();
export const hmac = (algorithm: string, key: Uint8Array, data: Uint8Array): Uint8Array =>
  createHmac(mustBeHash(algorithm), key).update(data).digest();

/** JSON of the parts; undefined where it is no URL. */
export function url(text: string, base?: string, member?: string, value = ''): string | undefined {
  const parsed = URL.parse(text, base);
  if (!parsed) return undefined;
  try {
    if (member !== undefined && isPart(member)) parsed[member] = value;
  } catch {
    return undefined;
  }
  return JSON.stringify({ ...Object.fromEntries(PARTS.map((part) => [part, parsed[part]])), origin: parsed.origin });
}

type Formatter = Intl.DateTimeFormat | Intl.NumberFormat;
const formatters = new Map<string, Formatter>();

function formatterFor(kind: string, locales: string, options: string): Formatter {
  const key = [kind, locales, options].join('\n');
  const known = formatters.get(key);
  if (known) return known;
  if (formatters.size >= MOST_FORMATTERS) formatters.clear();
  const made =
    kind === 'DateTimeFormat'
      ? new Intl.DateTimeFormat(JSON.parse(locales), JSON.parse(options))
      : new Intl.NumberFormat(JSON.parse(locales), JSON.parse(options));
  formatters.set(key, made);
  return made;
}

/** What the formatter answers, as JSON. Throws a RangeError for locales and options that are not valid. */
export function format(kind: string, method: string, locales: string, options: string, value: number): string {
  const formatter = formatterFor(kind, locales, options);
  if (method === 'resolvedOptions') return JSON.stringify(formatter.resolvedOptions());
  if (method === 'format') return JSON.stringify(formatter.format(value));
  const parts =
    formatter instanceof Intl.NumberFormat ? formatter.formatToParts(value) : formatter.formatToParts(value);
  return JSON.stringify(parts);
}
