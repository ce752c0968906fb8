/** Tags: the form in which they are stored and queried. */
import { errors } from '#core';

/** Tags of one device. */
export const MAX_TAGS = 50;
const MAX_CODE_POINTS = 50;
/** A comma separates tags in queries; quotes and backslashes cause errors in CSV files. */
const FORBIDDEN = /[\p{Cc}\p{Cs},"\\]/u;
/** Tags that only the platform sets. */
const RESERVED = 'sys:';

const spaced = (text: string) => text.normalize('NFC').trim().replace(/\s+/gu, ' ');

/** The stored form of any text: lower case, one space between words. Empty for text without visible characters. */
export const tagKey = (text: string): string => spaced(text).toLowerCase().normalize('NFC');

export const isReserved = (tag: string): boolean => tag.startsWith(RESERVED);

function faultOf(text: string, also: (tag: string) => boolean): string | null {
  const plain = spaced(text);
  if (plain === '') return 'is empty';
  if ([...plain].length > MAX_CODE_POINTS) return `has more than ${MAX_CODE_POINTS} characters`;
  if (FORBIDDEN.test(plain)) return 'contains a comma, a quote, a backslash or a control character';
  const tag = tagKey(text);
  return isReserved(tag) && !also(tag) ? `begins with ${RESERVED}, which only the platform writes` : null;
}

/**
 * The stored form of tags to be written, each once, sorted. Throws VALIDATION_ERROR with every invalid tag.
 * @param path of the list in the request
 * @param also reserved tags that are allowed nevertheless
 */
export function checkedTags(given: readonly string[], path = 'tags', also: readonly string[] = []): string[] {
  const details = given.flatMap((text, index) => {
    const fault = faultOf(text, (tag) => also.includes(tag));
    return fault ? [{ in: 'payload', path: `${path}.${index}`, code: 'BAD_TAG', message: `The tag ${fault}` }] : [];
  });
  if (details.length > 0) throw errors.ValidationFailed({ message: 'Not every tag is valid', details });
  return [...new Set(given.map(tagKey))].sort();
}

/** The tags of a device after a user replaced them: the new ones, and the reserved ones that it had. Throws VALIDATION_ERROR. */
export function replacedTags(before: readonly string[], given: readonly string[]): string[] {
  const reserved = before.filter(isReserved);
  const after = [...new Set([...checkedTags(given, 'tags', reserved), ...reserved])].sort();
  if (after.length <= MAX_TAGS) return after;
  const message = `A device has at most ${MAX_TAGS} tags`;
  throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'tags', message }] });
}
