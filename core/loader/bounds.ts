/** Finds what in a body nothing bounds: a text, list or object that would be stored however large it came. */
import type Joi from 'joi';
import type { ClampMeta } from '../http/paging.ts';
import type { SizeMeta } from '../http/payloads/open-object.ts';
import { below, type Inner } from '../http/schema-parts.ts';

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
  if (schema.$_terms.metas?.some((meta: Partial<SizeMeta & ClampMeta>) => meta.maxBytes || meta.clamped)) return false;
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
