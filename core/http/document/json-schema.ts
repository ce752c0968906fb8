/** JSON Schema of the Joi schemas that routes declare, as OpenAPI 3.1 wants it. */
import type Joi from 'joi';
import { boundsOf } from './bounds.ts';
import type { Direction, Json } from './json.ts';

export type { Direction, Json } from './json.ts';

export interface JsonSchema extends Json {
  type?: string | string[];
  description?: string;
  properties?: Record<string, JsonSchema>;
  required?: string[];
}

interface Convertible {
  '~standard': { jsonSchema: Record<Direction, (options: object) => JsonSchema> };
}

/**
 * Joi leaves null out of the values of what may be null; by the standard it is then refused, whatever the type says.
 * @param named whether these are fields by their names, one of which may be `type`
 */
function completed<T>(schema: T, direction: Direction, named = false): T {
  if (Array.isArray(schema)) return schema.map((one) => completed(one, direction)) as T;
  if (typeof schema !== 'object' || schema === null) return schema;
  const made: Json = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      completed(value, direction, !named && (key === 'properties' || key === 'patternProperties')),
    ]),
  );
  if (named) return made as T;
  const { type, enum: values } = made;
  const nullable = Array.isArray(type) && type.includes('null');
  if (nullable && Array.isArray(values) && !values.includes(null)) made.enum = [...values, null];
  return { ...made, ...boundsOf(made, direction) } as T;
}

export function jsonSchema(schema: Joi.Schema, direction: Direction): JsonSchema {
  const { $schema: _, ...made } = (schema as unknown as Convertible)['~standard'].jsonSchema[direction]({
    target: 'draft-2020-12',
  });
  return completed(made, direction);
}
