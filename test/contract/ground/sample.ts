/** Makes a body that a schema accepts, from its JSON Schema: required fields only, the plainest values. */

export interface Schema {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  minItems?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: unknown;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  default?: unknown;
}

const FORMATS: Record<string, string> = {
  uuid: '11111111-1111-4111-8111-111111111111',
  email: 'someone@example.com',
  'date-time': '2030-01-01T00:00:00.000Z',
  date: '2030-01-01',
  uri: 'https://example.com/',
};

/** Values for fields of a name, whatever their schema says. */
export type Named = Record<string, unknown>;

export function sample(schema: Schema, named: Named = {}): unknown {
  const choices = (schema.anyOf ?? schema.oneOf)?.filter((one) => one.type !== 'null');
  if (choices?.[0]) return sample(choices[0], named);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  if (type === 'object') {
    const field = (name: string, inner: Schema) => [
      name,
      Object.hasOwn(named, name) ? named[name] : sample(inner, named),
    ];
    const fields = (schema.required ?? []).map((name) => field(name, schema.properties?.[name] ?? {}));
    // A change needs at least one field.
    const first = Object.entries(schema.properties ?? {})[0];
    if (fields.length === 0 && first) fields.push(field(...first));
    return Object.fromEntries(fields);
  }
  if (type === 'array') return schema.minItems ? [sample(schema.items ?? {}, named)] : [];
  if (type === 'integer' || type === 'number') return Math.max(1, schema.minimum ?? 1);
  if (type === 'boolean') return true;
  if (schema.format && FORMATS[schema.format]) return FORMATS[schema.format];
  if (schema.pattern?.includes('0-9a-f')) return 'a'.repeat(64);
  return 'x'.repeat(Math.max(1, schema.minLength ?? 1));
}

interface Convertible {
  '~standard': { jsonSchema: { input(options: { target: string }): Schema } };
}

/** @param schema a Joi schema. */
export const schemaOf = (schema: unknown): Schema =>
  (schema as Convertible)['~standard'].jsonSchema.input({ target: 'draft-2020-12' });

/** @param schema a Joi schema. */
export const sampleOf = (schema: unknown, named: Named = {}): unknown => sample(schemaOf(schema), named);
