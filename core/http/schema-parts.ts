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

interface Condition {
  schema?: Inner;
  then?: Inner;
  otherwise?: Inner;
  switch?: Condition[];
}
/** A schema with all that may lie below it. */
export interface Inner {
  type?: string;
  $_terms: {
    keys?: { key: string; schema: Inner }[] | null;
    patterns?: { rule: Inner }[] | null;
    items?: Inner[] | null;
    ordered?: Inner[] | null;
    matches?: Condition[] | null;
    whens?: Condition[] | null;
    metas?: object[] | null;
  };
  _rules: { name: string; args?: { regex?: RegExp } }[];
  $_getFlag(name: string): unknown;
}

/** The schemas directly below one, each with the step of its path: `.name`, `.*`, `[]`, or nothing for an alternative. */
export function* below({ $_terms }: Inner): Generator<[string, Inner]> {
  for (const { key, schema } of $_terms.keys ?? []) yield [`.${key}`, schema];
  for (const { rule } of $_terms.patterns ?? []) yield ['.*', rule];
  for (const item of [...($_terms.items ?? []), ...($_terms.ordered ?? [])]) yield ['[]', item];
  const conditions = [...($_terms.matches ?? []), ...($_terms.whens ?? [])];
  for (const one of conditions.flatMap((condition) => [condition, ...(condition.switch ?? [])])) {
    for (const schema of [one.schema, one.then, one.otherwise]) if (schema) yield ['', schema];
  }
}
