/** `npm run build:module-kit [-- --out FOLDER]`: the kit as JavaScript and declarations, packed as one tarball. */
import { execFile } from 'node:child_process';
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';

const run = promisify(execFile);
const HERE = import.meta.dirname;
const ROOT = join(HERE, '../..');

type Versions = Record<string, string>;
interface Manifest {
  imports: Record<string, string>;
  dependencies: Versions;
  devDependencies: Versions;
}
/** What the kit's declarations and its platform for tests need beyond the server's own dependencies. */
const MORE = ['@types/node', '@types/pg', '@types/semver', '@types/ws'];
/** Files that the code reads at run time. */
const ASSETS = [
  ...['migrations/*.sql', 'modules/*/*/migrations/*.sql', 'modules/*/*/scripts/*', 'core/**/*.mjs'],
  'plugins/*/*.*',
];

const readJson = async <T>(path: string) => JSON.parse(await readFile(path, 'utf8')) as T;
const writeJson = (path: string, value: object) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`);

/** The compiler leaves the endings of imports in declarations as they were written. */
async function rewriteEndings(dist: string): Promise<void> {
  for await (const file of glob('**/*.d.ts', { cwd: dist })) {
    const path = join(dist, file);
    const text = await readFile(path, 'utf8');
    const changed = text.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2');
    if (changed !== text) await writeFile(path, changed);
  }
}

/** The entry point of the types: core, and what every module of the server adds to the contract's maps. */
async function writeEntry(dist: string): Promise<void> {
  const widening: string[] = [];
  for (const file of (await Array.fromAsync(glob('modules/**/*.d.ts', { cwd: dist }))).sort()) {
    const text = await readFile(join(dist, file), 'utf8');
    if (text.includes("declare module '#core/contract'")) widening.push(file);
  }
  const imports = widening.map((file) => `import './${file.replace(/\.d\.ts$/, '.js')}';`);
  await writeFile(
    join(dist, 'index.d.ts'),
    ['/** What a module is written with. */', ...imports, "export * from './core/kit.js';", ''].join('\n'),
  );
}

/** The server's own import names, as they are in the package: `./core/index.ts` is `./dist/core/index.js`. */
function importsOf({ imports }: Manifest): Record<string, string> {
  const packed = Object.entries(imports).filter(([name]) => !name.startsWith('#test'));
  return Object.fromEntries(
    packed.map(([name, path]) => [name, path.replace('./', './dist/').replace(/\.ts$/, '.js')]),
  );
}

/** Builds the package below `out` and packs it; returns the tarball's path. */
export async function buildKit(out: string): Promise<string> {
  const target = join(out, 'package');
  const dist = join(target, 'dist');
  await rm(target, { recursive: true, force: true });
  await mkdir(dist, { recursive: true });
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', join(HERE, 'tsconfig.json'), '--outDir', dist], {
    cwd: ROOT,
  }).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout || String(error));
  });
  await rewriteEndings(dist);
  for await (const file of glob(ASSETS, { cwd: ROOT, exclude: (name) => /(^|\/)test(\/|$)/.test(name) })) {
    await mkdir(dirname(join(dist, file)), { recursive: true });
    await cp(join(ROOT, file), join(dist, file), { recursive: true });
  }
  await writeEntry(dist);
  const server = await readJson<Manifest>(join(ROOT, 'package.json'));
  const { node: _node, ...dependencies } = server.dependencies;
  for (const name of MORE) dependencies[name] = server.dependencies[name] ?? server.devDependencies[name] ?? '';
  await writeJson(join(target, 'package.json'), {
    ...(await readJson<object>(join(HERE, 'package.json'))),
    imports: importsOf(server),
    dependencies: Object.fromEntries(Object.entries(dependencies).sort(([a], [b]) => (a < b ? -1 : 1))),
  });
  for (const name of ['README.md', 'LICENSE']) await cp(join(HERE, name), join(target, name));
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
    cwd: target,
    maxBuffer: 64 * 1024 * 1024,
  });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  return join(out, packed?.filename ?? '');
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  const tarball = await buildKit(resolve(values.out ?? join(HERE, 'out')));
  process.stdout.write(`${relative(process.cwd(), tarball)}\n`);
}
