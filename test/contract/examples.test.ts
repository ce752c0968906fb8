/**
 * The examples of the API document are recordings. Each fits its operation here; `EXAMPLES=execute` also executes every
 * operation as its module's examples.json says it, and holds the answer against the recorded one, as `.ci/run` does.
 * `EXAMPLES=record` writes the recordings (`npm run generate` then puts them into openapi.json).
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type Joi from 'joi';
import { enrollAgent, enrollmentKey } from '#test';
import type { AnyRoute, OperationExample } from '../../core/contract/index.ts';
import { queryOf } from '../../core/http/conventions/field-selection.ts';
import { openapiDocument } from '../../core/http/document/document.ts';
import type { RouteTag } from '../../core/http/route.ts';
import { labelOf } from './fixtures/examples.ts';
import { firstSuccess, type Success } from './fixtures/executing.ts';
import { openInstallation } from './fixtures/installation.ts';
import { existingPaths } from './fixtures/paths.ts';
import { difference, Normaliser } from './fixtures/recordings.ts';
import { turnOf } from './fixtures/succeeding.ts';

const recording = process.env.EXAMPLES === 'record';
const executing = recording || process.env.EXAMPLES === 'execute';
const installation = await openInstallation({ LOG_LEVEL: 'silent' });
const { platform, owner, admin, tags, examples } = installation;
test.after.always(() => installation.stop());

function parametersIn({ path: template, params }: AnyRoute, path: string): Record<string, string> {
  const parts = path.split('/');
  const given = Object.fromEntries(
    template
      .split('/')
      .map((part, index) => [part, decodeURIComponent(parts[index] ?? '')] as const)
      .flatMap(([part, value]) => (part.startsWith('{') ? [[part.slice(1, -1), value] as const] : [])),
  );
  // As the document gives them: numbers as numbers.
  return (params?.validate(given).value ?? given) as Record<string, string>;
}

/** Flags and numbers as such; what the schema fills in by itself is left out. */
function queryIn(route: AnyRoute, text: string): Record<string, unknown> {
  const given = Object.fromEntries(new URLSearchParams(text));
  const { value } = queryOf(route).validate(given);
  return Object.fromEntries(Object.keys(given).map((name) => [name, value?.[name] ?? given[name]]));
}

/** A request as the example shows it, with its answer. */
function recordingOf(route: AnyRoute, { path, body, answer }: Success): OperationExample {
  const [plain = '', inPath = ''] = path.split('?');
  const normaliser = new Normaliser();
  return {
    request: normaliser.of({
      ...(route.path.includes('{') ? { path: parametersIn(route, plain) } : {}),
      ...(inPath ? { query: queryIn(route, inPath) } : {}),
      ...(body === undefined ? {} : { body }),
    }) as OperationExample['request'],
    status: answer.status,
    ...(answer.body === '' ? {} : { answer: normaliser.of(answer.body) }),
  };
}

const answerOf = ({ route }: RouteTag, status: number, answer: unknown): [Joi.Schema, unknown] => [
  route.answers?.[status] ?? route.response,
  answer,
];

test('every example is one of its operation: parameters, body, status and answer', (t) => {
  let count = 0;
  for (const tag of tags) {
    const { route, example } = tag;
    if (!example) continue;
    count += 1;
    const { request, status, answer } = example;
    const parts: [Joi.Schema | undefined, unknown][] = [
      [route.params, request.path ?? {}],
      [queryOf(route), request.query ?? {}],
      [route.payload, request.body],
      // Text of another type, as CSV, has no schema.
      ...(route.produces && typeof answer === 'string' ? [] : [answerOf(tag, status, answer)]),
    ];
    for (const [schema, value] of parts) t.is(schema?.validate(value).error?.message, undefined, labelOf(tag.route));
    t.true(status === (route.status ?? 200) || Boolean(route.answers?.[status]) || status === 304, labelOf(tag.route));
  }
  t.true(count > 250, `${count} operations have an example`);
});

const whenAsked = executing ? test : test.skip;
whenAsked('every operation answers as its example says', async (t) => {
  t.timeout(1_200_000);
  const agent = await enrollAgent(platform, {
    key: await enrollmentKey(platform, owner),
    hostname: 'WS-0142',
    osType: 'windows',
  });
  const callers = { agent, existing: await existingPaths(installation, () => [admin.token]) };
  const manifests = platform.platform.modules.map(({ module }) => module);
  const document = openapiDocument(tags, manifests, '1') as {
    components: { schemas: Record<string, object> };
    paths: Record<
      string,
      Record<string, { responses: Record<string, { content?: Record<string, { schema: object }> }> }>
    >;
  };
  const made = new Map<string, OperationExample>();
  const missed: string[] = [];
  const others: [string, string][] = [];
  // Reading comes before changing, and last what ends the caller's session. Complete calls bring what they need: they come
  // first, while nothing that they stand on has ended.
  const turn = ({ route }: RouteTag) =>
    (examples.of('calls', route) ? -100 : 10 * turnOf(installation, route)) + Number(route.method !== 'GET');
  const inTurn = tags.toSorted((a, b) => turn(a) - turn(b));
  for (const tag of inTurn) {
    const label = labelOf(tag.route);
    if (examples.of('unrecorded', tag.route)) continue;
    const began = performance.now();
    const success = await firstSuccess(installation, tag.route, callers);
    const now = success && recordingOf(tag.route, success);
    if (recording) process.stderr.write(`${label} ${now?.status} ${Math.round(performance.now() - began)} ms\n`);
    if (!now) {
      missed.push(label);
      continue;
    }
    const was = tag.example;
    const { route } = tag;
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    const schema = operation?.responses[String(now.status)]?.content?.['application/json']?.schema;
    const other = was
      ? difference(document.components.schemas, schema ?? {}, was.answer, now.answer)
      : 'it has no example';
    const same = was?.status === now.status && JSON.stringify(was.request) === JSON.stringify(now.request) && !other;
    // What differs only in values stays as it was recorded.
    made.set(label, same ? was : now);
    if (recording) continue;
    if (!same) others.push([label, other ?? JSON.stringify([was?.status, was?.request, now.status, now.request])]);
  }
  if (recording) write(made);
  t.log(`${made.size} of ${tags.length} operations were executed`);
  t.deepEqual(others, []);
  t.deepEqual(missed, [], 'no success: give a body, arrange what they need, or say why there is no recording');
});

function write(made: ReadonlyMap<string, OperationExample>): void {
  for (const { module, folder, routes } of platform.platform.modules) {
    const own = routes
      .map(({ value }) => `${value.method} ${value.path}`)
      .sort()
      .flatMap((label) => {
        const example = made.get(label);
        return example ? [[label, example] as const] : [];
      });
    if (own.length === 0) continue;
    writeFileSync(join(folder, 'examples.json'), `${JSON.stringify(Object.fromEntries(own), null, 1)}\n`);
    process.stderr.write(`${module.name}: ${own.length} examples\n`);
  }
}
