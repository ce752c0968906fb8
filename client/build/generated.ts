/** The files of `src/` that are made from openapi.json: the types, and which operations heed an Idempotency-Key or If-Match. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';

export const CLIENT = join(import.meta.dirname, '..');
const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

interface Operation {
  parameters?: { name?: string; in?: string; $ref?: string }[];
  responses: Record<string, { content?: object }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { parameters?: Record<string, { name: string; in: string }>; schemas: object };
}

/** `POST /tags/bulk`, for each operation that heeds a header field. */
function operationsWith(header: string, { paths, components }: Document): string[] {
  const resolved = (one: { name?: string; $ref?: string }) =>
    one.$ref ? components.parameters?.[one.$ref.split('/').at(-1) ?? '']?.name : one.name;
  return Object.entries(paths).flatMap(([path, operations]) =>
    METHODS.filter((method) => operations[method]?.parameters?.some((one) => resolved(one) === header)).map(
      (method) => `${method.toUpperCase()} ${path}`,
    ),
  );
}

type Schema = { anyOf?: Schema[]; items?: Schema; properties?: Record<string, Schema>; $ref?: string };
const isSelection = ({ description, $ref }: { description?: string; $ref?: string }) =>
  Boolean(description?.startsWith('With `fields`')) || Boolean($ref?.endsWith('Selection'));

/** Rows as they are without `fields`: what comes with it follows from the request (`operations.ts`). */
function whole(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(whole);
  if (value === null || typeof value !== 'object') return value;
  const { items, ...rest } = value as Schema;
  const [row, selection] = items?.anyOf ?? [];
  const plain = row && selection && isSelection(selection) ? row : items;
  const others = Object.entries(rest).map(([key, inner]) => [key, whole(inner)]);
  return { ...Object.fromEntries(others), ...('items' in value ? { items: whole(plain) } : {}) };
}

/** Without headers, and with one failure for all: what else types could tell is not worth a compiler's time. */
function slim(document: Document): Document {
  const failure = {
    description: 'Refused',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  };
  const slimmer = ({ responses, ...rest }: Operation): Operation => {
    const good = Object.entries(responses).filter(([status]) => status < '400');
    const bare = good.map(([status, { content }]) => [
      status,
      { description: 'Done', ...(content ? { content } : {}) },
    ]);
    return { ...rest, responses: { ...Object.fromEntries(bare), default: failure } };
  };
  const paths = Object.entries(document.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).map(([method, operation]) => [method, slimmer(operation)])),
  ]);
  const { parameters = {} } = document.components;
  const rows = Object.entries(document.components.schemas).filter(([name]) => !isSelection({ $ref: name }));
  const schemas = Object.fromEntries(rows);
  return whole({ ...document, paths: Object.fromEntries(paths), components: { schemas, parameters } }) as Document;
}

/** Text by file name. */
export async function generated(): Promise<Record<string, string>> {
  const document = JSON.parse(await readFile(join(CLIENT, '..', 'openapi.json'), 'utf8')) as Document;
  // What has a default need not be sent, and an open object may hold anything.
  const options = { defaultNonNullable: false, emptyObjectsUnknown: true };
  const types = astToString(await openapiTS(slim(document) as unknown as OpenAPI3, options));
  const set = (name: string, header: string) => {
    const operations = operationsWith(header, document).map((operation) => `  '${operation}',\n`);
    return `export const ${name}: ReadonlySet<string> = new Set([\n${operations.join('')}]);\n`;
  };
  return {
    'schema.ts': `/** Every path, operation and schema of the API. Made from openapi.json by \`npm run generate\`. */\n\n${types}`,
    'keyed-operations.ts':
      `/** The operations that heed an Idempotency-Key or If-Match. Made from openapi.json by \`npm run generate\`. */\n${set('KEYED_OPERATIONS', 'Idempotency-Key')}\n` +
      `/** Changes of resources that have an entity tag. */\n${set('TAGGED_OPERATIONS', 'If-Match')}`,
  };
}
