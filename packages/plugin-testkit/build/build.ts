/** `npm run build:plugin-kit [-- --out FOLDER]`: what authors of plugins need, as tarballs: SDK, test kit and scaffolder. */
import { execFile } from 'node:child_process';
import { cp, glob, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { MANIFEST_SCHEMA } from '@quartermaster/plugin-sdk/host';

const run = promisify(execFile);
const PACKAGES = join(import.meta.dirname, '../..');
const ROOT = join(PACKAGES, '..');
/** In the order in which they need each other. */
const NAMES = ['plugin-sdk', 'plugin-testkit', 'create-plugin'] as const;

interface Manifest {
  name: string;
  exports: Record<string, string>;
  bin?: Record<string, string>;
  files: string[];
}

const writeJson = (path: string, value: object) => writeFile(path, `${JSON.stringify(value, null, 2)}\n`);
/** `./src/index.ts` of the checkout is `./dist/index.js` of the package. */
const built = (path: string, ending: string) => path.replace('./src/', './dist/').replace(/\.ts$/, ending);

/** The compiler leaves the endings of imports in declarations as they were written. */
async function rewriteEndings(dist: string): Promise<void> {
  for await (const file of glob('**/*.d.ts', { cwd: dist })) {
    const path = join(dist, file);
    const text = await readFile(path, 'utf8');
    const changed = text.replace(/((?:from|import)\s*\(?\s*['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2');
    if (changed !== text) await writeFile(path, changed);
  }
}

async function compile(source: string, target: string, sdk: string): Promise<void> {
  const config = join(target, 'tsconfig.json');
  await writeJson(config, {
    extends: join(ROOT, 'tsconfig.json'),
    compilerOptions: {
      ...{ noEmit: false, declaration: true, rewriteRelativeImportExtensions: true },
      ...{ rootDir: join(source, 'src'), outDir: join(target, 'dist') },
      typeRoots: [join(ROOT, 'node_modules/@types')],
      paths: {
        '@quartermaster/plugin-sdk': [join(sdk, 'dist/index.d.ts')],
        '@quartermaster/plugin-sdk/host': [join(sdk, 'dist/host.d.ts')],
        '@quartermaster/plugin-sdk/interpreter': [join(sdk, 'dist/runtime/interpreter/inspect.d.ts')],
      },
    },
    include: [join(source, 'src')],
    exclude: [],
  });
  await run(join(ROOT, 'node_modules/.bin/tsc'), ['--project', config], { cwd: ROOT }).catch(
    (error: { stdout?: string }) => {
      throw new Error(error.stdout || String(error));
    },
  );
  await rm(config);
  await rewriteEndings(join(target, 'dist'));
}

/** The manifest as it is published: what runs is JavaScript, with its types beside it. */
function published({ exports, bin, ...manifest }: Manifest): object {
  const entries = Object.entries(exports).map(([entry, path]) => [
    entry,
    path.endsWith('.ts') ? { types: built(path, '.d.ts'), default: built(path, '.js') } : path,
  ]);
  const commands = Object.entries(bin ?? {}).map(([name, path]) => [name, built(path, '.js')]);
  return {
    ...manifest,
    ...(commands.length > 0 ? { bin: Object.fromEntries(commands) } : {}),
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
  };
}

/** Builds the packages below `out` and packs them; returns the paths of the tarballs. */
export async function buildPluginKit(out: string): Promise<Record<(typeof NAMES)[number], string>> {
  const tarballs: [string, string][] = [];
  for (const name of NAMES) {
    const [source, target] = [join(PACKAGES, name), join(out, name)];
    await rm(target, { recursive: true, force: true });
    await mkdir(join(target, 'dist'), { recursive: true });
    await compile(source, target, join(out, 'plugin-sdk'));
    const manifest = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as Manifest;
    await writeJson(join(target, 'package.json'), published(manifest));
    for (const file of ['README.md', 'LICENSE', ...manifest.files.filter((one) => one !== 'dist')])
      await cp(join(source, file), join(target, file), { recursive: true });
    if (name === 'plugin-sdk') await writeJson(join(target, 'dist/manifest.schema.json'), MANIFEST_SCHEMA);
    const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {
      cwd: target,
    });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    tarballs.push([name, join(out, packed?.filename ?? '')]);
  }
  return Object.fromEntries(tarballs) as Record<(typeof NAMES)[number], string>;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { out: { type: 'string' } } });
  const tarballs = await buildPluginKit(resolve(values.out ?? join(import.meta.dirname, '../out')));
  for (const one of Object.values(tarballs)) console.log(relative(process.cwd(), one));
}
