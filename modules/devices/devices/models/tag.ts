/** Tags: the one form in which they are stored and asked for, whoever writes them. */
import { errors } from '#core';

/** Tags of one device. */
export const MOST_TAGS = 50;
/** Code points of one tag. */
const LONGEST = 50;
/** A comma separates tags in queries; quotes and backslashes end up in other people's CSV. */
const REFUSED = /[\p{Cc}\p{Cs},"\\]/u;
/** What the platform itself notes about a device. */
const RESERVED = 'sys:';

const spaced = (text: string) => text.normalize('NFC').trim().replace(/\s+/gu, ' ');

/** The stored form of any text: lower case, one space between words. Empty when there is nothing in it. */
export const tagKey = (text: string): string => spaced(text).toLowerCase().normalize('NFC');

export const isReserved = (tag: string): boolean => tag.startsWith(RESERVED);

function faultOf(text: string, also: (tag: string) => boolean): string | null {
  const plain = spaced(text);
  if (plain === '') return 'is empty';
  if ([...plain].length > LONGEST) return `has more than ${LONGEST} characters`;
  if (REFUSED.test(plain)) return 'holds a comma, a quote, a backslash or a control character';
  const tag = tagKey(text);
  return isReserved(tag) && !also(tag) ? `begins with ${RESERVED}, which only the platform writes` : null;
}

/**
 * The stored form of tags that somebody wants to write, each once, sorted. Throws VALIDATION_ERROR with every bad one.
 * @param path of the list in the request
 * @param also the reserved tags that may be among them all the same
 */
export function checkedTags(given: readonly string[], path = 'tags', also: readonly string[] = []): string[] {
  const details = given.flatMap((text, index) => {
    const fault = faultOf(text, (tag) => also.includes(tag));
    return fault ? [{ in: 'payload', path: `${path}.${index}`, code: 'BAD_TAG', message: `The tag ${fault}` }] : [];
  });
  if (details.length > 0) throw errors.ValidationFailed({ message: 'Not every tag is valid', details });
  return [...new Set(given.map(tagKey))].sort();
}

/** What a device has when people replace its tags: theirs, and the reserved ones that it had. Throws VALIDATION_ERROR. */
export function replacedTags(before: readonly string[], given: readonly string[]): string[] {
  const reserved = before.filter(isReserved);
  const after = [...new Set([...checkedTags(given, 'tags', reserved), ...reserved])].sort();
  if (after.length <= MOST_TAGS) return after;
  const message = `A device has at most ${MOST_TAGS} tags`;
  throw errors.ValidationFailed({ message, details: [{ in: 'payload', path: 'tags', message }] });
}
