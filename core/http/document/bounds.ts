/** The bounds of every text, list and whole number of the document: where a schema names none, those of the server. */
import type { Direction, Json } from './json.ts';

/** Of texts in a format; times have at most microseconds and an offset. */
const TEXTS: Record<string, number> = { uuid: 36, 'date-time': 40, email: 254, ipv4: 15, ipv6: 45 };
/** Node reads at most so much of a request before its body: path, query and header fields. Bodies name their own. */
const REQUEST_TEXT = 16_384;
/** No text of an answer is longer than the largest body that brings one. */
const ANSWER_TEXT = 16_777_216;
/** Of the entries of a list: what `payloads/input.ts` lets in, and more than any answer has. */
const LISTS: Record<Direction, number> = { input: 20_000, output: 1_000_000 };
/** Files and streams come as long as they are. */
export const FILE: Json = { type: 'string', maxLength: Number.MAX_SAFE_INTEGER };
const INT32 = 2 ** 31;

function textBounds({ format, maxLength, enum: values, const: value }: Json, direction: Direction): Json {
  if (maxLength !== undefined || values !== undefined || value !== undefined) return {};
  const usual = direction === 'input' ? REQUEST_TEXT : ANSWER_TEXT;
  return { maxLength: TEXTS[String(format)] ?? usual };
}

function wholeBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, format }: Json): Json {
  const [low, high] = [minimum ?? exclusiveMinimum, maximum ?? exclusiveMaximum];
  const small = [low, high].every((bound) => typeof bound === 'number' && Math.abs(bound) < INT32);
  return {
    ...(low === undefined ? { minimum: Number.MIN_SAFE_INTEGER } : {}),
    ...(high === undefined ? { maximum: Number.MAX_SAFE_INTEGER } : {}),
    format: format ?? (small ? 'int32' : 'int64'),
  };
}

/** What a schema lacks: bounds, and of an object with any keys that it is one, which generators take for a record. */
export function boundsOf(schema: Json, direction: Direction): Json {
  const types = [schema.type].flat();
  return {
    ...(types.includes('string') ? textBounds(schema, direction) : {}),
    ...(types.includes('integer') ? wholeBounds(schema) : {}),
    ...(types.includes('array') && schema.maxItems === undefined ? { maxItems: LISTS[direction] } : {}),
    ...(types.includes('object') && schema.additionalProperties === undefined && !schema.patternProperties
      ? { additionalProperties: true }
      : {}),
  };
}
