/** Finds what in a body nothing bounds: a text, list or object that would be stored however large it came. */
import type Joi from 'joi';
import type { SizeMeta } from '../http/payloads/open-object.ts';

/** What Joi keeps of a schema, as its extensions see it; describe() fails on some schemas that are fine. */
interface Inner {
  type?: string;
  $_terms: {
    keys?: { key: string; schema: Inner }[] | null;
    patterns?: { rule: Inner }[] | null;
    items?: Inner[] | null;
    ordered?: Inner[] | null;
    matches?: Condition[] | null;
    whens?: Condition[] | null;
    metas?: Partial<SizeMeta>[] | null;
  };
  _rules: { name: string; args?: { regex?: RegExp } }[];
  $_getFlag(name: string): unknown;
}
interface Condition {
  schema?: Inner;
  then?: Inner;
  otherwise?: Inner;
  switch?: Condition[];
}

const has = (schema: Inner, ...names: string[]) => schema._rules.some(({ name }) => names.includes(name));

/** From beginning to end, and without a repetition that may go on. */
function isBounded(regex: RegExp | undefined): boolean {
  if (!regex?.source.startsWith('^') || !regex.source.endsWith('$')) return false;
  const plain = regex.source.replace(/\\./g, 'x').replace(/\[(?:[^\]])*\]/g, 'x');
  return !/[*+]|\{\d+,\}/.test(plain);
}

const BOUNDED_TEXT = ['max', 'length', 'guid', 'isoDate', 'ip', 'email', 'domain', 'hostname'];

function isUnbounded(schema: Inner): boolean {
  if (schema.$_getFlag('only') || schema.$_getFlag('presence') === 'forbidden') return false;
  if (schema.$_terms.metas?.some(({ maxBytes }) => maxBytes)) return false;
  switch (schema.type) {
    case 'string':
      return !has(schema, ...BOUNDED_TEXT) && !schema._rules.some(({ args }) => isBounded(args?.regex));
    case 'number':
      // Columns of whole numbers end earlier than JavaScript's.
      return has(schema, 'integer') && !(has(schema, 'max', 'less') && has(schema, 'min', 'greater', 'positive'));
    case 'array': {
      const items = schema.$_terms.items ?? [];
      const fewKinds = has(schema, 'unique') && items.length > 0 && items.every((item) => item.$_getFlag('only'));
      return !has(schema, 'max', 'length') && !fewKinds;
    }
    case 'binary':
      return !has(schema, 'max', 'length');
    case 'object':
      if (schema.$_getFlag('unknown') || !schema.$_terms.keys) return true;
      return Boolean(schema.$_terms.patterns?.length) && !has(schema, 'max', 'length');
    case 'any':
      return true;
    default:
      return false;
  }
}

function* below({ $_terms }: Inner): Generator<[string, Inner]> {
  for (const { key, schema } of $_terms.keys ?? []) yield [`.${key}`, schema];
  for (const { rule } of $_terms.patterns ?? []) yield ['.*', rule];
  for (const item of [...($_terms.items ?? []), ...($_terms.ordered ?? [])]) yield ['[]', item];
  const conditions = [...($_terms.matches ?? []), ...($_terms.whens ?? [])];
  for (const one of conditions.flatMap((condition) => [condition, ...(condition.switch ?? [])])) {
    for (const schema of [one.schema, one.then, one.otherwise]) if (schema) yield ['', schema];
  }
}

/** The paths of all fields that nothing bounds. */
export function unboundedFields(root: Joi.Schema): string[] {
  const seen = new Set<Inner>();
  const found: string[] = [];
  const look = (schema: Inner, path: string): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    if (isUnbounded(schema)) found.push(path.replace(/^\./, '') || 'the body itself');
    for (const [step, inner] of below(schema)) look(inner, path + step);
  };
  look(root as unknown as Inner, '');
  return found;
}
