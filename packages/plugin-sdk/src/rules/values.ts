/** Values of the key-value store: as they are stored and counted, and how many a list holds. */
import { HostError } from '../failures.ts';

/** Of one answer of `kv.list`, below what a message may hold; who wants more goes on after the last. */
const MOST_LISTED_BYTES = 512 * 1024;

/** As JSON that a database takes: jsonb knows neither NUL nor lone surrogates. */
export const storable = (value: unknown): string =>
  JSON.stringify(value, (_key, inner) =>
    typeof inner === 'string' ? inner.replaceAll('\0', '').toWellFormed() : inner,
  );
export const storableKey = (key: string): string => key.replaceAll('\0', '').toWellFormed();

/** What is stored is what is counted. */
export const sizeOf = (key: string, text: string): number => Buffer.byteLength(key) + Buffer.byteLength(text);

/** Throws QUOTA_EXCEEDED. @param others bytes of all other values */
export function mustHaveRoom(others: number, bytes: number, most: number): void {
  if (others + bytes > most) throw new HostError('QUOTA_EXCEEDED', `All values together have at most ${most} bytes`);
}

/** The first of these that fit one answer. */
export function listed<R extends { bytes: number }>(rows: readonly R[]): R[] {
  let bytes = 0;
  return rows.filter((row) => {
    bytes += row.bytes;
    return bytes < MOST_LISTED_BYTES;
  });
}
