/** Text from agents in a form that PostgreSQL stores. */

/**
 * Removes NUL characters and lone surrogates, trims, and cuts to `maxLength` characters. Returns undefined for empty text and for
 * values that are not text.
 */
export function storableText(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  const plain = value.replaceAll('\0', '').toWellFormed().trim();
  return plain === '' ? undefined : [...plain].slice(0, maxLength).join('');
}
