/** What modules do must be what their manifests declare. */
import { readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import test from 'ava';
import { catalogOf } from '../../app/catalog.ts';
import { openapiText } from '../../core/http/document/document.ts';
import { momentsAround } from '../../core/jobs/cron-times.ts';
import { loadModules, outgoingMessages, ROOT, routeTags } from '../../core/loader/load.ts';
import { sourceFiles } from '../house/files.ts';

const modules = await loadModules();
const sources = sourceFiles().filter(({ path }) => !/(^|\/)test\//.test(path));
const textOf = (folder: string) =>
  sources
    .filter(({ path }) => path.startsWith(`${folder}/`))
    .map(({ text }) => text)
    .join('\n');
const named = (text: string, call: RegExp) => [...text.matchAll(call)].map((match) => match[1] ?? '');

for (const { module, routes, folder } of modules) {
  const text = textOf(relative(ROOT, folder));

  test(`${module.name}: every audit action that is recorded is declared, and the other way round`, (t) => {
    const literals = new Set([...named(text, /['`]([a-z_]+(?:\.[a-z_]+)+)['`]/g)]);
    const recorded = named(text, /\.audit(?:Attempt)?\(\s*'([^']+)'/g);
    t.deepEqual(
      recorded.filter((action) => !module.audits.includes(action)),
      [],
      'recorded but not declared',
    );
    t.deepEqual(
      module.audits.filter((action) => !literals.has(action)),
      [],
      'declared but never recorded',
    );
    t.is(new Set(module.audits).size, module.audits.length);
  });

  test(`${module.name}: every module it asks is one it requires`, (t) => {
    const asked = named(text, /\.use\(\s*'([^']+)'/g);
    t.deepEqual(
      asked.filter((name) => !module.requires.includes(name) && name !== module.name),
      [],
    );
  });

  test(`${module.name}: every declared permission is used by a route`, (t) => {
    const used = new Set(routes.map(({ value }) => ('permission' in value.access ? value.access.permission : null)));
    t.deepEqual(
      module.permissions.filter((permission) => !used.has(permission)),
      [],
    );
  });
}

test('a scheduled job with one attempt comes round again within 10 minutes, so that a failure is soon made up for', (t) => {
  const now = new Date();
  for (const { jobs } of modules) {
    for (const { value: job } of jobs) {
      if (job.maxAttempts > 1 || !job.schedule) continue;
      const { last, next } = momentsAround(job.schedule, now);
      t.true(Number(next) - Number(last) <= 600_000, job.name);
    }
  }
});

test('every route says what it does in one line, and no two share an operation id', (t) => {
  const ids = new Set<string>();
  const document = JSON.parse(
    openapiText(
      routeTags(modules),
      modules.map((loaded) => loaded.module),
      outgoingMessages(modules),
    ),
  ) as {
    paths: Record<string, Record<string, { operationId: string; summary: string }>>;
  };
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, summary }] of Object.entries(methods)) {
      t.false(ids.has(operationId), `${method} ${path}: ${operationId}`);
      t.true(summary.length > 3 && summary.length < 120 && !summary.endsWith('.'), `${method} ${path}: ${summary}`);
      ids.add(operationId);
    }
  }
});

test('openapi.json is what the routes say; run `npm run generate` after changing them', async (t) => {
  t.is(
    openapiText(
      routeTags(modules),
      modules.map((loaded) => loaded.module),
      outgoingMessages(modules),
    ),
    await readFile(join(ROOT, 'openapi.json'), 'utf8'),
  );
});

test('docs/catalog.md is what the modules declare; run `npm run generate` after changing them', async (t) => {
  t.is(catalogOf(modules), await readFile(join(ROOT, 'docs', 'catalog.md'), 'utf8'));
});
