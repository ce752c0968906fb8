/** Bodies with one thing wrong, made from a schema: each names the field that an answer must name. */
import { browser } from '../../../modules/messages/notifications/test/post-offices.ts';
import { type Schema, sample } from './sample.ts';

export interface BadBody {
  what: string;
  /** As error.details[].path gives it; null where no field is meant. */
  path: string | null;
  /** A value, or the very text to send. */
  body: unknown;
  raw?: true;
}

/** Found in the database, it would have been stored. */
export const MARK = 'must-never-be-stored';
const MEGABYTE = MARK.padEnd(1_000_000, 'x');
const DEEP = 5000;

interface Field {
  path: string[];
  schema: Schema;
  required: boolean;
  nullable: boolean;
}

const isNull = (schema: Schema) => schema.type === 'null';
const choices = (schema: Schema) => schema.anyOf ?? schema.oneOf;
const typeOf = ({ type }: Schema) => (Array.isArray(type) ? type.find((one) => one !== 'null') : type);

function isNullable(schema: Schema): boolean {
  if (schema.type === undefined && !choices(schema) && !schema.enum) return true;
  if ([schema.type].flat().includes('null') || schema.enum?.includes(null)) return true;
  return choices(schema)?.some(isNullable) ?? false;
}

/** What a field takes; undefined where it takes several kinds, of which a wrong one is hard to name. */
function kindOf(schema: Schema): Schema | undefined {
  const kinds = choices(schema)?.filter((one) => !isNull(one));
  if (!kinds) return schema;
  return kinds.length === 1 && kinds[0] ? kindOf(kinds[0]) : undefined;
}

export function fieldsOf(schema: Schema, path: string[] = []): Field[] {
  const kind = kindOf(schema);
  if (!kind) return [];
  const inner = Object.entries(kind.properties ?? {}).flatMap(([name, field]) => {
    const here = { path: [...path, name], schema: kindOf(field) ?? {}, nullable: isNullable(field) };
    return [{ ...here, required: kind.required?.includes(name) ?? false }, ...fieldsOf(field, here.path)];
  });
  return kind.items ? [...inner, ...fieldsOf(kind.items, [...path, '0'])] : inner;
}

/** A copy of `base` with a value at a path; what is missing on the way is made as its schema wants it. */
function withValue(base: unknown, path: string[], value: unknown, schema: Schema): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  const kind = kindOf(schema) ?? {};
  if (key === '0') return [withValue(Array.isArray(base) ? base[0] : undefined, rest, value, kind.items ?? {})];
  const required = kind.required ? sample(kind) : {};
  const object = (base !== null && typeof base === 'object' && !Array.isArray(base) ? base : required) as Record<
    string,
    unknown
  >;
  return { ...object, [key]: withValue(object[key], rest, value, kind.properties?.[key] ?? {}) };
}

function nested(levels: number): unknown {
  let value: unknown = MARK;
  for (let level = 0; level < levels; level++) value = { [MARK]: value };
  return value;
}

const WRONG: Record<string, unknown[]> = {
  string: [{}, [], true, 5],
  number: [{}, [], MARK, '1e999'],
  integer: [{}, [], MARK, 0.5, 1e300, Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER],
  boolean: [{}, [], MARK, 5],
  array: [{ a: 1 }, MARK, 5],
  object: [['x'], MARK, 5, true],
};

function wrongValues({ schema, nullable }: Field): [string, unknown][] {
  const type = typeOf(schema);
  const found: [string, unknown][] = (WRONG[type ?? ''] ?? []).map((value) => [
    `of another kind (${JSON.stringify(value)})`,
    value,
  ]);
  if (!nullable) found.push(['null', null]);
  if (type === 'string') {
    if ((schema.maxLength ?? 0) < MEGABYTE.length) found.push(['a megabyte long', MEGABYTE]);
    found.push(['with NUL', `${MARK}\0`], ['with half a character', `${MARK}\ud800`]);
    if (schema.enum) found.push(['not among its values', MARK]);
    if (schema.maxLength) found.push(['one too long', 'x'.repeat(schema.maxLength + 1)]);
  }
  if (schema.format === 'uuid')
    found.push(
      ['no id', MARK],
      ['an id with more behind it', `${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}' or true`],
    );
  if (schema.format === 'date-time')
    found.push(
      ['no date', MARK],
      ['before all times', '-271821-04-20T00:00:00.000Z'],
      ['after all times', '+275760-09-13T00:00:00.000Z'],
    );
  if (type === 'array') found.push(['a hundred thousand long', Array(100_000).fill('x')]);
  if (type) found.push(['nested too deep', nested(DEEP)]);
  return found;
}

/** Deeply nested values overflow the stack of JSON.stringify; as text they go through. */
const textOf = (body: unknown, deep: boolean): string => {
  if (!deep) return JSON.stringify(body);
  const open = `{"${MARK}":`.repeat(DEEP);
  return JSON.stringify(body).replace('"@deep@"', () => `${open}1${'}'.repeat(DEEP)}`);
};

export function badBodies(schema: Schema, base: unknown): BadBody[] {
  const fields = fieldsOf(schema);
  const bodies: BadBody[] = fields.flatMap((field) =>
    wrongValues(field).map(([what, value]) => {
      const deep = what === 'nested too deep';
      const body = withValue(base, field.path, deep ? '@deep@' : value, schema);
      return { what, path: field.path.join('.'), body: textOf(body, deep), raw: true as const };
    }),
  );
  for (const { path } of fields.filter(({ required }) => required)) {
    const above = path.slice(0, -1);
    const parent = above.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], base);
    if (parent === null || typeof parent !== 'object') continue;
    const { [path.at(-1) ?? '']: _, ...rest } = parent as Record<string, unknown>;
    bodies.push({ what: 'missing', path: path.join('.'), body: withValue(base, above, rest, schema) });
  }
  const plain = base !== null && typeof base === 'object' ? base : {};
  bodies.push({ what: 'unknown', path: 'nobodyKnowsThis', body: { ...plain, nobodyKnowsThis: MARK } });
  bodies.push({
    what: 'unknown',
    path: 'constructor',
    body: { ...plain, constructor: { prototype: { polluted: MARK } } },
  });
  const text = JSON.stringify(plain);
  const polluting = `{"__proto__":{"polluted":"${MARK}"}${text === '{}' ? '}' : `,${text.slice(1)}`}`;
  bodies.push({ what: 'a prototype', path: null, body: polluting, raw: true });
  for (const raw of ['{', '{"a":', '[}', 'nothing', `{"a":"${MARK}"`, '{"a":NaN}', '\u0000', '{}{}']) {
    bodies.push({ what: `no JSON (${JSON.stringify(raw)})`, path: null, body: raw, raw: true });
  }
  for (const other of [[], [MARK], 'text', 5, true])
    bodies.push({ what: `no object (${JSON.stringify(other)})`, path: null, body: other });
  return bodies;
}

/** Values that nothing but text takes, and those that a limit or a page brings back into its bounds. */
export const NO_VALUE = ['', 'NaN', MARK, '%00', '[]', '{}', '0.5', '1e400'];
export const CLAMPED = ['0', '-1', '1000000', '99999999999999999999', '-99999999999999999999', '1e300'];

/** Good bodies of routes with rules that no schema tells, into which the bad values are put. */
export const BASES: Record<string, object> = {
  'PATCH /notifications/read': { all: true },
  'POST /notifications/push-subscriptions': browser('https://push.example.com/1').body,
  'POST /plugins/installations': { slug: 'none', grantPermissions: [] },
};

/** Parts of a path that are no id. */
export const BAD_PARTS = [
  'not-an-id',
  '%00',
  '%27%20or%20true',
  '..%2F..%2Fetc',
  'x'.repeat(3000),
  '%F0%9F%92%A9',
  '%ED%A0%80',
  '%',
  '-1',
  '1e9',
];
