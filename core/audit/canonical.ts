/** The canonical form of JSON (RFC 8785): equal values have equal bytes, in every implementation. */

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * Keys in the order of their UTF-16 code units, no white space, strings and numbers as ECMAScript writes them. Members
 * that are undefined are left out. Throws `TypeError` for what JSON cannot hold: NaN, infinities, lone surrogates.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw new TypeError('a string with a lone surrogate has no canonical form');
    return JSON.stringify(value);
  }
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new TypeError(`${value} has no canonical form`);
    return JSON.stringify(value);
  }
  if (Array.isArray(value)) return `[${value.map((item) => canonicalJson(item ?? null)).join(',')}]`;
  if (typeof value !== 'object') throw new TypeError(`a ${typeof value} has no canonical form`);
  const members = value as Record<string, unknown>;
  let text = '';
  for (const key of Object.keys(members).sort(compare)) {
    const member = members[key];
    if (member === undefined) continue;
    text += `${text && ','}${canonicalJson(key)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
