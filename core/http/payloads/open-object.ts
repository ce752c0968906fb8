/** Objects whose keys are the caller's own: bounded by their size, since no schema bounds what lies in them. */
import Joi from 'joi';

/** Schemas that bound their own JSON say so in their meta; the loader refuses bodies that nothing bounds. */
export interface SizeMeta {
  maxBytes: number;
}

/** An object with any keys, of at most so many bytes of JSON (default 64 KiB). */
export function openObject<T extends object = Record<string, unknown>>(maxBytes = 65_536): Joi.ObjectSchema<T> {
  const meta: SizeMeta = { maxBytes };
  return Joi.object<T>()
    .unknown()
    .custom((value: object, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) <= maxBytes ? value : helpers.error('object.maxBytes', meta),
    )
    .messages({ 'object.maxBytes': '{{#label}} must have at most {{#maxBytes}} bytes of JSON' })
    .meta(meta);
}
