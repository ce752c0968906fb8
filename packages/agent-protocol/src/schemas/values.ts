/** The small schemas from which the bodies of the protocol are made: text that the database can store, and bounded numbers. */
import Joi from 'joi';

/** The text without NUL and lone surrogates, which PostgreSQL refuses. */
export const cleaned = (value: string): string => value.replaceAll('\0', '').toWellFormed();

/** Text, which may be empty. */
export const text = (max: number) => Joi.string().allow('').max(max).custom(cleaned);

/** Text that is not empty. */
export const label = (max: number) => Joi.string().trim().max(max).custom(cleaned);

/** A finite number of at least zero; no agent measures anything above 2^53. */
export const amount = () => Joi.number().min(0).max(Number.MAX_SAFE_INTEGER);
/** A number that may have a fraction and is stored without. */
export const rounded = (max = Number.MAX_SAFE_INTEGER) => Joi.number().min(0).max(max).custom(Math.round);
export const percent = () => Joi.number().min(0).max(100);
/** A whole number for an integer column. */
export const count = () => Joi.number().integer().min(0).max(2_147_483_647);
export const instant = () => Joi.date().iso().min('2000-01-01').max('2200-01-01');
export const address = () => Joi.string().ip({ cidr: 'forbidden' }).max(45);
export const flag = () => lenient(Joi.boolean());

/** An object; a newer agent may send fields that this server does not know, and they are left out. */
export const open = <T>(keys: Joi.SchemaMap<T>) => Joi.object<T>(keys).options({ stripUnknown: { objects: true } });

/** A field that becomes null when it is invalid, instead of failing the body that contains it. */
export const lenient = (schema: Joi.Schema) => schema.allow(null).failover(null);

/** Any JSON value without the characters that the database refuses. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return cleaned(value);
  if (Array.isArray(value)) return value.map(storable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storable(key), storable(inner)]));
}
