/** Asks the operating system: reads small files and the output of its own programs, with limits, without throwing. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

const LIMITS = { timeout: 60_000, maxBuffer: 64 * 1024 * 1024, windowsHide: true };

/** The trimmed text of a file, or undefined when it cannot be read. */
export async function fileText(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );
}

/** What a program prints, or undefined when it is missing, fails or takes longer than a minute. */
export async function outputOf(program: string, ...args: string[]): Promise<string | undefined> {
  return promisify(execFile)(program, args, { ...LIMITS, encoding: 'utf8' }).then(
    ({ stdout }) => stdout,
    () => undefined,
  );
}

/** The objects in a JSON text that holds one object or an array of them. */
export function parseObjects(text: string | undefined): Record<string, unknown>[] | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const list = Array.isArray(value) ? value : [value];
    return list.filter((item) => typeof item === 'object' && item !== null);
  } catch {
    return undefined;
  }
}

/** A non-empty text, without the words that makers leave in place of a value. */
export function known(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.trim() : '';
  const filler =
    /^(|none|n\/a|unknown|default string|not specified|system serial number|to be filled by o\.?e\.?m\.?)$/i;
  return filler.test(text) || /^0+$/.test(text) ? undefined : text;
}

/** A finite number out of a value that may be a numeric text. */
export function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Rounds to two decimals. */
export function round(value: number): number {
  return Math.round(value * 100) / 100;
}
