/**
 * Every SQL statement over rows that lie in a site or belong to a device comes from `Model.in(ctx)`, contains `reach(…)`, or says
 * why it needs neither: row-level security keeps to organizations, and nothing beneath keeps to sites and device groups.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ROOT, type SourceFile, sourceFiles } from './files.ts';
import { containsReach, isSentence, placedTables, reasonAbove, statementsOver } from './reach-rules.ts';

const PRODUCT = /^(?:core|workers|app|modules|packages\/example-module|packages\/module-kit)\//;

const migrations = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.sql'], {
  cwd: ROOT,
})
  .toString()
  .split('\n')
  .filter((path) => /(^|\/)migrations\//.test(path) && !/(^|\/)test\//.test(path) && path !== 'migrations/schema.sql')
  .map((path) => readFileSync(join(ROOT, path), 'utf8'));
const tables = placedTables(migrations);
const files = sourceFiles().filter(({ path }) => PRODUCT.test(path) && !/(^|\/)test\//.test(path));

const MODEL = /class (\w+) extends (?:(\w+)\.Model\b|[\s\S]*?static override (?:readonly )?tableName = '([a-z_]+)')/g;

interface ModelClass {
  name: string;
  table: string;
  index: number;
}
/** The models of a file: over a table of `defineTable`, or with a table name of their own. */
function modelsIn({ text }: SourceFile): ModelClass[] {
  const declared = new Map(
    [...text.matchAll(/const (\w+) = defineTable\('([a-z_]+)'/g)].map(([, name = '', table = '']) => [name, table]),
  );
  return [...text.matchAll(MODEL)].map(({ index, 1: name = '', 2: of = '', 3: own }) => ({
    name,
    table: own ?? declared.get(of) ?? '',
    index,
  }));
}
const models = new Map(files.flatMap(modelsIn).map(({ name, table }) => [name, table]));

/** Lines of queries past `Model.in(ctx)` of models over such tables. */
function bareQueries({ text }: SourceFile): number[] {
  return [...text.matchAll(/\b(\w+)\.(?:query|relatedQuery)\(/g)]
    .filter(([, name = '']) => tables.has(models.get(name) ?? ''))
    .map(({ index }) => text.slice(0, index).split('\n').length);
}

interface Finding {
  place: string;
  fault: string;
}
const used = new Set<string>();

function findings(file: SourceFile): Finding[] {
  const { path, text } = file;
  const lines = text.split('\n');
  const lacking = (line: number): Finding[] => {
    const place = `${path}:${line}`;
    const reason = reasonAbove(lines, line);
    if (!reason) {
      return [
        {
          place,
          fault: 'use Model.in(ctx) or reach(ctx, alias, add), or give the reason above it: // reach: <reason>',
        },
      ];
    }
    used.add(`${path}:${reason.line}`);
    return isSentence(reason) ? [] : [{ place, fault: `the reason is no sentence: ${reason.text}` }];
  };
  const statements = statementsOver(text, [...tables.keys()]).filter(({ text: sql }) => !containsReach(sql, text));
  return [...statements.map(({ line }) => line), ...bareQueries(file)].flatMap(lacking);
}
const found = files.flatMap(findings);

test('the tables that lie in a site or belong to a device are read from the migrations', (t) => {
  for (const table of ['devices', 'sites', 'device_state', 'device_commands', 'events', 'enrollment_keys', 'notes']) {
    t.true(tables.has(table), table);
  }
  t.false(tables.has('organizations'));
  t.is(models.get('Site'), 'sites');
  t.is(models.get('Device'), 'devices');
});

test('every statement over them keeps to what the caller reaches, or says why it need not', (t) => {
  t.true(files.flatMap(({ text }) => statementsOver(text, [...tables.keys()])).length > 200);
  t.deepEqual(found, []);
});

test('a model over them declares the columns of site and device, or says why it does not', (t) => {
  for (const file of files) {
    const { path, text } = file;
    for (const { name, table, index } of modelsIn(file)) {
      const columns = tables.get(table);
      if (!columns) continue;
      const line = text.slice(0, index).split('\n').length;
      const body = text.slice(index, text.indexOf('\n}', index));
      const reason = reasonAbove(text.split('\n'), line);
      if (reason) used.add(`${path}:${reason.line}`);
      const declared =
        (!columns.site || body.includes('siteColumn =')) && (!columns.device || body.includes('deviceColumn ='));
      t.true(declared || (reason !== null && isSentence(reason)), `${path}:${line} ${name} over ${table}`);
    }
  }
  const reasons = files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((line, at) => (/^\s*\/\/ reach: /.test(line) ? [`${path}:${at + 1}`] : [])),
  );
  t.deepEqual(
    reasons.filter((place) => !used.has(place)),
    [],
    'a reason stands above no such statement',
  );
});

test('the rule finds statements, their reach and their reasons', (t) => {
  const over = (text: string) => statementsOver(text, ['devices', 'device_state']).map(({ line }) => line);
  t.deepEqual(
    over('const a = 1;\nsql(`select 1 from devices d`);\nsql("delete from device_state where true");'),
    [2, 3],
  );
  t.deepEqual(over("// select 1 from devices\nconst title = 'Tags are removed from devices';"), []);
  t.deepEqual(over(`const all = ['devices'];\nsql(\`delete from \${table} where true\`);`), [2]);
  t.deepEqual(over(`sql(\`with a as (update device_\${name} set x = 1) select 1\`);`), [1]);
  t.deepEqual(over('const re = /["`]/;\nsql(`select 1 from a, devices d`);'), [2]);
  t.true(containsReach(`select 1 from devices d where \${reach(ctx, 'd', add)}`, ''));
  t.true(containsReach(`select 1 from devices d where \${seen}`, "const seen = reach(ctx, 'd', add);"));
  t.false(containsReach(`select 1 from devices d where \${seen}`, "const seen = 'true';"));
  const lines = [
    'f(x);',
    '// reach: the device of the agent itself',
    'const { rows } = await ctx.sql(',
    '  `select 1`,',
  ];
  t.is(reasonAbove(lines, 4)?.text, 'the device of the agent itself');
  t.is(reasonAbove(['// reach: of another statement above', 'f(x);', 'sql(`select 1`);'], 3), null);
});
