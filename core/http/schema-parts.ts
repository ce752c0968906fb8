/** What a schema is made of, as Joi's extensions see it: `describe()` tells the same, and takes a hundred times as long. */
import type Joi from 'joi';

export interface SchemaParts {
  type?: string;
  $_terms: {
    keys?: { key: string; schema: SchemaParts }[] | null;
    items?: SchemaParts[] | null;
    matches?: { schema?: SchemaParts }[] | null;
  };
}

export const partsOf = (schema: Joi.Schema): SchemaParts => schema as unknown as SchemaParts;

/** The names of an object's fields; none of what is no object, or of one that says nothing about them. */
export const keysOf = (schema: SchemaParts | Joi.Schema | undefined): string[] =>
  ((schema as SchemaParts | undefined)?.$_terms.keys ?? []).map(({ key }) => key);
