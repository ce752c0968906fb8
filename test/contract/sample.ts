/** Makes a body that a schema accepts, from its JSON Schema: required fields only, the plainest values. */

interface Schema {
  type?: string | string[];
  format?: string;
  enum?: unknown[];
  const?: unknown;
  minLength?: number;
  minimum?: number;
  minItems?: number;
  pattern?: string;
  properties?: Record<string, Schema>;
  required?: string[];
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

export function sample(schema: Schema): unknown {
  const choice = schema.anyOf?.[0] ?? schema.oneOf?.[0];
  if (choice) return sample(choice);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const type = Array.isArray(schema.type) ? schema.type.find((one) => one !== 'null') : schema.type;
  if (type === 'object') {
    const fields = (schema.required ?? []).map((name) => [name, sample(schema.properties?.[name] ?? {})]);
    // A change needs at least one field.
    const first = Object.entries(schema.properties ?? {})[0];
    if (fields.length === 0 && first) fields.push([first[0], sample(first[1])]);
    return Object.fromEntries(fields);
  }
  if (type === 'array') return schema.minItems ? [sample(schema.items ?? {})] : [];
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
export const sampleOf = (schema: unknown): unknown =>
  sample((schema as Convertible)['~standard'].jsonSchema.input({ target: 'draft-2020-12' }));
