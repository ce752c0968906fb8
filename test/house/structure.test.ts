/** The structure of the repository: no circle of imports, no arrow up, small central files and short functions. */
import test from 'ava';
import { sourceFiles } from './files.ts';
import { functionsOf } from './functions.ts';
import { circlesOf, graphOf, targetOf } from './imports.ts';

const product = sourceFiles().filter(({ path }) => !/(^|\/)test\//.test(path) && !path.endsWith('.test.ts'));

/** Folders from the top down: a file imports only from its own folder or from those below it. */
const LEVELS = ['app', 'workers', 'modules', 'core', 'config'];
const levelOf = (path: string): number => LEVELS.indexOf(path.split('/')[0] ?? '');

const MAX_CENTRAL_LINES = 200;
const CENTRAL = /^(core\/[^/]+\.ts|core\/(contract|context|work|start)\/.*|app\/.*|config\/.*)$/;
/** Central files that are still longer; the list only shrinks. */
const LONG_CENTRAL: readonly string[] = [];
const MAX_FUNCTION_LINES = 60;
/** Functions that are still longer. An entry that is no longer needed fails the test; the list only shrinks. */
const LONG_FUNCTIONS: readonly string[] = [];

test('circles are found, through aliases and through other files', (t) => {
  const graph = graphOf([
    { path: 'core/a.ts', imports: ['./b.ts', 'pg'] },
    { path: 'core/b.ts', imports: ['#core'] },
    { path: 'core/index.ts', imports: ['./a.ts'] },
    { path: 'core/c.ts', imports: ['./a.ts'] },
  ]);
  t.deepEqual(circlesOf(graph), [['core/a.ts', 'core/b.ts', 'core/index.ts']]);
});

test('core, modules, workers and app import in no circle, types included', (t) => {
  const files = product.filter(({ path }) => levelOf(path) >= 0);
  t.true(files.length > 500);
  t.deepEqual(circlesOf(graphOf(files)), []);
});

test('no file imports from a folder above its own; the workers reach core only through its entry points', (t) => {
  for (const { path, imports } of product) {
    const level = levelOf(path);
    if (level < 0) continue;
    for (const name of imports) {
      const target = targetOf(path, name);
      const other = target === undefined ? -1 : levelOf(target);
      if (other >= 0) t.true(other >= level, `${path} imports ${name}, which lies above it`);
    }
  }
});

test('no central file is longer than 200 lines', (t) => {
  const long = product.filter(({ path, lines }) => CENTRAL.test(path) && lines > MAX_CENTRAL_LINES);
  t.deepEqual(
    long.filter(({ path }) => !LONG_CENTRAL.includes(path)).map(({ path, lines }) => `${path} has ${lines} lines`),
    [],
  );
  t.deepEqual(
    LONG_CENTRAL.filter((path) => !long.some((file) => file.path === path)),
    [],
    'these are short enough now: remove them from LONG_CENTRAL',
  );
});

test('no function is longer than 60 lines', (t) => {
  const long = product.flatMap(functionsOf).filter(({ lines }) => lines > MAX_FUNCTION_LINES);
  const listed = new Set(LONG_FUNCTIONS);
  t.deepEqual(
    long.filter(({ id }) => !listed.has(id)).map(({ id, lines }) => `${id} has ${lines} lines`),
    [],
  );
  const ids = new Set(long.map(({ id }) => id));
  t.deepEqual(
    LONG_FUNCTIONS.filter((id) => !ids.has(id)),
    [],
    'these are short enough now: remove them from LONG_FUNCTIONS',
  );
});
