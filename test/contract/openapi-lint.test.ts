/** The API document holds against the rules of linters that integrators use, and says what the route table says. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { loadModules, ROOT, routeTags } from '../../core/loader/load.ts';

interface Document {
  info: { description: string };
  webhooks: Record<string, Message>;
  paths: Record<string, Record<string, Operation>>;
}
interface Operation {
  description: string;
  parameters: { name?: string; description?: string; schema?: { default?: unknown } }[];
  'x-module': string;
}
interface Message {
  post: {
    requestBody: {
      content: {
        'application/json': {
          schema: { properties: { data: { anyOf?: object[]; properties?: object } } };
          example: { type: string };
        };
      };
    };
  };
}
const document = JSON.parse(await readFile(join(ROOT, 'openapi.json'), 'utf8')) as Document;
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ label: `${method.toUpperCase()} ${path}`, operation })),
);

/** What a linter of node_modules writes about openapi.json. */
async function linted(cli: string, ...args: string[]): Promise<string> {
  const lint = spawn(process.execPath, [join(ROOT, 'node_modules', cli), 'lint', 'openapi.json', ...args], {
    cwd: ROOT,
    env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  lint.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  await new Promise((resolve) => lint.on('close', resolve));
  return output;
}

test('redocly lint, with the rules it recommends, finds neither errors nor warnings', async (t) => {
  t.timeout(600_000);
  const output = await linted('@redocly/cli/bin/cli.js', '--config=config/redocly.yaml', '--format=json');
  const { totals, problems } = JSON.parse(output.slice(output.indexOf('{'))) as {
    totals: { errors: number; warnings: number };
    problems: { message: string; location: { pointer?: string }[] }[];
  };
  const found = problems.map(({ message, location }) => `${location[0]?.pointer}: ${message}`).join('\n');
  t.deepEqual([totals.errors, totals.warnings], [0, 0], found);
});

test('spectral lint, with the rules of OWASP, finds no errors', async (t) => {
  t.timeout(600_000);
  const cli = '@stoplight/spectral-cli/dist/index.js';
  const output = await linted(cli, '--ruleset=config/spectral.yaml', '--format=json', '--quiet', '-D');
  const problems = JSON.parse(output) as { code: string; path: string[]; message: string }[];
  const found = problems.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`);
  t.deepEqual(found, []);
});

/** Every schema of the document, with its place. */
function* schemasIn(value: unknown, place = ''): Generator<{ place: string; schema: Record<string, unknown> }> {
  if (value === null || typeof value !== 'object') return;
  const schema = value as Record<string, unknown>;
  if (schema.type !== undefined || schema.pattern !== undefined) yield { place, schema };
  for (const [key, inner] of Object.entries(value)) yield* schemasIn(inner, `${place}/${key}`);
}

test('strict tools can read every schema: arrays say what they hold, and patterns need no flag', (t) => {
  for (const { place, schema } of schemasIn(document)) {
    if (schema.type === 'array') t.true('items' in schema, `${place} has items`);
    if (typeof schema.pattern !== 'string') continue;
    t.notThrows(() => new RegExp(String(schema.pattern)), place);
    t.notRegex(schema.pattern, /\\[pP]\{|\\u\{/, `${place}: only with the flag u`);
  }
});

/** Groups of the catalog of operations; lists of devices, people, keys, places and the audit trail have sizes of their own. */
const CATALOG = [
  'agent-versions',
  'alert-channels',
  'custom-fields',
  'notifications',
  'plugins',
  'queue',
  'tags',
  'webhooks',
];

test('lists of the catalog groups give 100 rows by default', (t) => {
  const sizes: [label: string, size: unknown][] = operations.flatMap(({ label, operation }) => {
    const limit = operation.parameters.find(({ name }) => name === 'limit');
    return limit && CATALOG.includes(operation['x-module']) ? [[label, limit.schema?.default]] : [];
  });
  t.true(sizes.length > 12, `${sizes.length} lists`);
  // A page of the catalog of plugins is a page of cards.
  for (const [label, size] of sizes) t.is(size, label === 'GET /plugins/catalog' ? 20 : 100, label);
});

test('the introduction says how errors, pages, repeated requests, limits and versions work', (t) => {
  for (const heading of ['Errors', 'Pagination', 'Idempotency', 'Limits', 'Versioning']) {
    t.regex(document.info.description, new RegExp(`^## ${heading}$`, 'm'));
  }
});

test('the document and the route table are equal, both ways', async (t) => {
  const routes = routeTags(await loadModules()).map(({ route }) => `${route.method} ${route.path}`);
  t.deepEqual(operations.map(({ label }) => label).sort(), routes.sort());
});

test('every operation says in words what it wants of its caller', (t) => {
  for (const { label, operation } of operations) t.regex(operation.description, /\w{3}.*\.$/s, label);
});

test('every parameter says in words what it is', (t) => {
  for (const { label, operation } of operations) {
    for (const one of operation.parameters) t.true('$ref' in one || Boolean(one.description), `${label} ${one.name}`);
  }
});

test('every message to webhooks has a schema of its own data, and an example', (t) => {
  const messages = Object.entries(document.webhooks);
  t.true(messages.length > 30);
  for (const [kind, { post }] of messages) {
    const { schema, example } = post.requestBody.content['application/json'];
    t.truthy(schema.properties.data.anyOf ?? schema.properties.data.properties, kind);
    // A kind with names that plugins choose is documented by its form: `plugin.<slug>.<name>`.
    t.regex(example.type, new RegExp(`^${kind.replace(/<\w+>/g, '[a-z0-9._-]+')}$`));
  }
});

test('a schema that several operations share has a name', (t) => {
  const places = new Map<string, Set<string>>();
  const look = (value: unknown, place: string): void => {
    if (value === null || typeof value !== 'object') return;
    const { description: _, ...schema } = value as { description?: string; properties?: object };
    if (schema.properties && Object.keys(schema.properties).length > 4) {
      const text = JSON.stringify(schema);
      places.set(text, (places.get(text) ?? new Set()).add(place));
    }
    for (const inner of Object.values(value)) look(inner, place);
  };
  for (const { label, operation } of operations) look(operation, label);
  for (const [text, found] of places) t.is(found.size, 1, `${[...found].join(', ')}: ${text.slice(0, 300)}`);
});
