/** Names of schemas in the API document; generated clients use them for their types. */
import type Joi from 'joi';
import { below, type Inner } from '../schema-parts.ts';

interface NameMeta {
  schemaName: string;
  /** The schema as it was named: what `keys()` and the like derive from it keeps the meta, and has another form. */
  named: Joi.Schema;
}

/** The schema under this name, which is unique in the installation. Wherever routes of the module use it, the document refers to it. */
export function named<S extends Joi.Schema>(schemaName: string, schema: S): S {
  return schema.meta({ schemaName, named: schema } satisfies NameMeta) as S;
}

/** The named schemas in these and below them. @param onFault called for each name that two schemas have */
export function namedSchemasIn(
  roots: readonly (Joi.Schema | undefined)[],
  onFault: (schemaName: string) => void,
): Record<string, Joi.Schema> {
  const seen = new Set<Inner>();
  const found: Record<string, Joi.Schema> = {};
  const look = (schema: Inner): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    for (const meta of (schema.$_terms.metas ?? []) as Partial<NameMeta>[]) {
      const { schemaName, named: original } = meta;
      if (!schemaName || !original) continue;
      if (found[schemaName] && found[schemaName] !== original) onFault(schemaName);
      found[schemaName] = original;
    }
    for (const [, inner] of below(schema)) look(inner);
  };
  for (const root of roots) if (root) look(root as unknown as Inner);
  return found;
}
