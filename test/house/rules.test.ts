/** The rules of the house, read from the files themselves. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import test from 'ava';
import { ROOT, sourceFiles } from './files.ts';

const files = sourceFiles();
const product = files.filter(({ path }) => !/(^|\/)test\//.test(path) && !path.endsWith('.test.ts'));

/** Core's rooms from left to right: a file imports only from its own rank or from lower ones. */
const RANK: Record<string, number> = {
  'errors.ts': 0,
  context: 0,
  contract: 0,
  'log.ts': 0,
  'explain.ts': 0,
  'data-folder.ts': 0,
  'listen.ts': 0,
  'only-where.ts': 0,
  'secrets.ts': 0,
  database: 1,
  storage: 1,
  work: 2,
  series: 2,
  audit: 3,
  events: 3,
  jobs: 3,
  counters: 3,
  settings: 3,
  outbound: 3,
  live: 3,
  documents: 3,
  delivery: 3,
  modules: 3,
  recurrence: 4,
  tenancy: 4,
  auth: 5,
  http: 6,
  loader: 7,
  start: 8,
  'kit.ts': 8,
  'index.ts': 9,
};
/** Longer than 300 lines, each with its reason. */
const LONG: Record<string, string> = {
  'client/src/schema.ts': 'generated from openapi.json',
};
/** What modules may import besides npm: core, and packages of this repository. */
const ENTRY_POINTS = [
  '#agent-protocol',
  '#agent-protocol/schemas',
  '#core',
  '#core/audit',
  '#core/auth',
  '#core/contract',
  '#plugin-sdk',
  '#plugin-sdk/host',
];
const CORE_LIBRARIES = ['@hapi/hapi', 'graphile-worker', 'ioredis', 'pg'];

const resolved = (from: string, to: string) => (to.startsWith('.') ? normalize(join(dirname(from), to)) : to);
const room = (path: string) => path.split('/')[1] ?? '';

test('a module imports only core, npm and its own folder', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('modules/'))) {
    const own = path.split('/').slice(0, 3).join('/');
    for (const name of imports) {
      const target = resolved(path, name);
      if (name.startsWith('.')) t.true(target.startsWith(`${own}/`), `${path} imports ${name}`);
      else if (name.startsWith('#')) t.true(ENTRY_POINTS.includes(name), `${path} imports ${name}`);
      else t.false(CORE_LIBRARIES.includes(name), `${path} imports ${name}, which is core's business`);
    }
  }
});

test('the example of a module package imports only the kit, Joi and its own folder', (t) => {
  const example = files.filter(({ path }) => path.startsWith('packages/example-module/'));
  t.true(example.length > 5);
  for (const { path, imports } of example) {
    const own = path.split('/').slice(0, 3).join('/');
    const allowed = /^(@quartermaster\/module-kit(\/contract)?|joi)$/;
    const inTest = /^(@quartermaster\/module-kit\/test|node:.*)$/;
    for (const name of imports) {
      if (name.startsWith('.')) t.true(resolved(path, name).startsWith(`${own}/`), `${path} imports ${name}`);
      else t.true(allowed.test(name) || (path.includes('/test/') && inTest.test(name)), `${path} imports ${name}`);
    }
  }
});

test('what is published reaches no further than its build', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('packages/module-kit/'))) {
    for (const name of imports) t.true(name.startsWith('node:'), `${path} imports ${name}`);
  }
});

test('core imports neither modules nor workers, and each room only rooms to its left', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('core/'))) {
    const rank = RANK[room(path)];
    t.not(rank, undefined, `${path} lies in no known room`);
    for (const name of imports) {
      const target = resolved(path, name);
      if (target.startsWith('modules/')) t.fail(`${path} imports ${name}`);
      if (/^(workers|app)\//.test(target)) t.fail(`${path} imports ${name}`);
      if (!target.startsWith('core/')) continue;
      const other = RANK[room(target)] ?? -1;
      const sameRoom = room(target) === room(path);
      t.true(
        sameRoom || other < (rank ?? 0) || (other === rank && rank === 0),
        `${path} imports ${target}, a room not to its left`,
      );
    }
  }
});

test('workers import only the entry point of jobs, npm and their own folder', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('workers/'))) {
    for (const name of imports) {
      const target = resolved(path, name);
      if (name.startsWith('.')) t.true(target.startsWith('workers/'), `${path} imports ${name}`);
      else if (name.startsWith('#')) t.is(name, '#core/jobs', path);
    }
  }
});

test('a package that is published imports only npm and its own folder', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('packages/'))) {
    const own = path.split('/').slice(0, 2).join('/');
    for (const name of imports) {
      const inside = name.startsWith('.') ? resolved(path, name).startsWith(`${own}/`) : !name.startsWith('#');
      t.true(inside, `${path} imports ${name}`);
    }
  }
});

test('the agent imports only npm, the agent protocol and its own folder', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('agent/'))) {
    for (const name of imports) {
      if (name.startsWith('.')) t.true(resolved(path, name).startsWith('agent/'), `${path} imports ${name}`);
      else if (name.startsWith('#')) t.is(name, '#agent-protocol', `${path} imports ${name}`);
      else t.false(name === 'joi' || CORE_LIBRARIES.includes(name), `${path} imports ${name}, a library of the server`);
    }
  }
});

test('config imports joi only', (t) => {
  for (const { path, imports } of product.filter((file) => file.path.startsWith('config/'))) {
    for (const name of imports)
      t.true(name === 'joi' || name.startsWith('./') || name.startsWith('node:'), `${path} imports ${name}`);
  }
});

test('only config reads the environment', (t) => {
  // What a child process inherits is handed on, not read.
  const handsOn = ['agent/src/process/run.ts', 'core/database/embedded/cluster.ts'];
  // It runs on an author's machine, where there is no server.
  const elsewhere = ['packages/plugin-testkit/src/commands/dev/credentials.ts'];
  for (const { path, text } of product) {
    if (path.startsWith('config/') || [...handsOn, ...elsewhere].includes(path)) continue;
    t.false(/process\.env\b/.test(text), `${path} reads process.env`);
  }
});

test('no file is longer than 300 lines without a reason', (t) => {
  for (const { path, lines } of product) t.true(lines <= 300 || path in LONG, `${path} has ${lines} lines`);
});

test('files are kebab-case, and nothing is named after being of use to everything', (t) => {
  for (const { path } of files) {
    t.regex(path, /^([a-z0-9.-]+\/)*[a-z0-9-]+(\.[a-z0-9-]+)*\.ts$/, path);
    t.notRegex(path, /(^|\/)(utils?|helpers?|common|misc|shared|lib)(\/|\.ts$)/, path);
  }
});

test('each file opens with one sentence about itself', (t) => {
  for (const { path, text } of files) t.regex(text, /^(#![^\n]*\n)?\/\*\*[^*]/, `${path} has no opening comment`);
});

test('there are default exports only in files that the loader reads', (t) => {
  const read =
    /^(modules\/[^/]+\/[^/]+|packages\/example-module\/src)\/(index\.ts|(routes|jobs|subscribers|slots|fills|events)\/.+\.ts|test\/example\.ts)$|^app\/commands\/[^/]+\.ts$|^packages\/create-plugin\/template\/src\/index\.ts$/;
  for (const { path, text } of product) {
    if (/^export default /m.test(text)) t.regex(path, read, `${path} has a default export`);
  }
});

test('no test is skipped, singled out or left to do', (t) => {
  for (const { path, text } of files) t.notRegex(text, /\btest(\.serial)?\.(skip|only|todo|failing)\(/, path);
});

test('the module to copy stays small', (t) => {
  const own = product.filter(({ path }) => path.startsWith('modules/examples/notes/'));
  t.true(own.length > 5);
  const lines = own.reduce((sum, file) => sum + file.lines, 0);
  t.true(lines <= 200, `modules/examples/notes has ${lines} lines`);
});

test('each module has a README, and a group has at most twelve', (t) => {
  const readme = files.length > 0 && existsSync(join(ROOT, 'README.md')) ? 'README.md' : '';
  t.is(readme, 'README.md');
  for (const group of readdirSync(join(ROOT, 'modules'))) {
    const names = readdirSync(join(ROOT, 'modules', group));
    t.true(names.length <= 12, `modules/${group} has ${names.length} modules`);
    for (const name of names) {
      t.true(existsSync(join(ROOT, 'modules', group, name, 'README.md')), `modules/${group}/${name} has no README.md`);
    }
  }
});

test('the map in the README names folders that exist', (t) => {
  const text = existsSync(join(ROOT, 'README.md')) ? readMap() : [];
  t.true(text.length > 10, 'the README has a map');
  for (const path of text) t.true(existsSync(join(ROOT, path)), `the README's map names ${path}`);
});

/** The paths in the code block under the heading "The map". */
function readMap(): string[] {
  const text = files.length > 0 ? readText('README.md') : '';
  const block = /## The map\n[\s\S]*?```\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const paths: string[] = [];
  let parent = '';
  for (const line of block.split('\n')) {
    const match = /^(\s*)([\w.-]+(?:\/[\w.-]+)*\/?)(\s{2,}|$)/.exec(line);
    if (!match?.[2]) continue;
    const nested = (match[1] ?? '').length > 0;
    if (!nested) parent = match[2].endsWith('/') ? match[2] : '';
    paths.push(nested ? parent + match[2] : match[2]);
  }
  return paths;
}

function readText(path: string): string {
  return process.getBuiltinModule('node:fs').readFileSync(join(ROOT, path), 'utf8');
}
