/** The small schemas from which the wire's bodies are made: text that the database can store, and bounded numbers. */
import Joi from 'joi';

const cleaned = (value: string) => value.replaceAll('\0', '').toWellFormed();

/** Text as agents send it; NUL and lone surrogates, which PostgreSQL refuses, are taken out. */
export const text = (max: number) => Joi.string().allow('').max(max).custom(cleaned);

/** Non-empty text. */
export const label = (max: number) => Joi.string().trim().max(max).custom(cleaned);

/** A finite number of at least zero; above 2^53 nothing an agent measures is meant. */
export const amount = () => Joi.number().min(0).max(Number.MAX_SAFE_INTEGER);
/** A number that may come with a fraction and is kept without. */
export const rounded = (most = Number.MAX_SAFE_INTEGER) => Joi.number().min(0).max(most).custom(Math.round);
export const percent = () => Joi.number().min(0).max(100);
/** Rows of integer columns. */
export const count = () => Joi.number().integer().min(0).max(2_147_483_647);
export const instant = () => Joi.date().iso().min('2000-01-01').max('2200-01-01');
export const address = () => Joi.string().ip({ cidr: 'forbidden' }).max(45);

/** An object from a newer agent may say more than this server knows: what it does not know is left out. */
export const open = <T>(keys: Joi.SchemaMap<T>) => Joi.object<T>(keys).options({ stripUnknown: { objects: true } });

/** A field that is dropped (null) instead of failing the body it lies in. */
export const lenient = (schema: Joi.Schema) => schema.allow(null).failover(null);

/** Any JSON, without the characters that the database refuses. */
export function storable(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '').toWellFormed();
  if (Array.isArray(value)) return value.map(storable);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [storable(key), storable(inner)]));
}
