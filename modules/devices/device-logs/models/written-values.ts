/** Schemas of values in logs: text that the database can store, any time, and bounded metadata. */
import Joi from 'joi';
import { cleaned, open, text } from '#agent-protocol/schemas';

export { cleaned, open, text };
/** Not empty, also after characters that cannot be stored are removed. */
export const label = (max: number) =>
  Joi.string()
    .trim()
    .max(max)
    .custom((value: string, helpers) => cleaned(value).trim() || helpers.error('string.empty'));
/** Any time: an implausible one is corrected and does not fail the body. */
export const instant = () => Joi.date().iso();

const MAX_LEVELS = 10;
const MAX_CHARACTERS = 32_768;

/** True for metadata of at most ten levels and about 32 KiB. */
export function isModest(value: object): boolean {
  let left = MAX_CHARACTERS;
  const walk = (inner: unknown, depth: number): boolean => {
    left -= typeof inner === 'string' ? inner.length + 2 : 8;
    if (left < 0 || depth > MAX_LEVELS) return false;
    if (inner === null || typeof inner !== 'object') return true;
    for (const [key, below] of Object.entries(inner)) {
      left -= key.length;
      if (!walk(below, depth + 1)) return false;
    }
    return true;
  };
  return walk(value, 1);
}
export const metadata = () =>
  Joi.object()
    .unknown()
    .allow(null)
    .custom((value: object | null, helpers) =>
      value === null || isModest(value)
        ? value
        : helpers.message({ custom: '{{#label}} must have at most ten levels and 32 KiB' }),
    );

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;
/** Fast checks that replace the schemas: each is true only if its schema would not change the value. */
export const plain = {
  text: (value: unknown, max: number): boolean =>
    typeof value === 'string' && value.length <= max && value.isWellFormed() && !value.includes('\0'),
  label: (value: unknown, max: number): boolean =>
    plain.text(value, max) && value !== '' && (value as string).trim() === value,
  instant: (value: unknown): boolean =>
    typeof value === 'string' && ISO.test(value) && !Number.isNaN(Date.parse(value)),
  metadata: (value: unknown): boolean =>
    value !== null && typeof value === 'object' && !Array.isArray(value) && isModest(value),
};
