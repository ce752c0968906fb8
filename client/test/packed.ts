/** The package as an integrator gets it: built and packed from a copy, and unpacked into an otherwise empty folder. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { extract } from 'tar';
import { CLIENT } from '../build/generated.ts';

export const run = promisify(execFile);
const ROOT = join(CLIENT, '..');
/** Where the packages lie that no registry is asked for. */
const INSTALLED: Record<string, string> = {
  'eventsource-parser': 'node_modules/eventsource-parser',
  'openapi-fetch': 'node_modules/openapi-fetch',
  'openapi-typescript-helpers': 'node_modules/openapi-typescript-helpers',
  standardwebhooks: 'node_modules/standardwebhooks',
  '@types/node': 'node_modules/@types/node',
  typescript: 'client/node_modules/typescript',
  'openapi-typescript': 'client/node_modules/openapi-typescript',
};

/** Makes a folder with these packages installed. */
export async function folderWith(packages: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-client-'));
  for (const name of packages) {
    const place = join(folder, 'node_modules', name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(join(ROOT, INSTALLED[name] ?? ''), place);
  }
  return folder;
}

/** Runs the TypeScript of integrators, which is not yet the one of this repository. */
export async function compile(folder: string): Promise<string> {
  const tsc = join(folder, 'node_modules', 'typescript', 'lib', 'tsc.js');
  // Its complaints are on its standard output.
  const done = await run(process.execPath, [tsc, '-p', '.'], { cwd: folder }).catch(
    (fault: { stdout: string }) => fault,
  );
  return done.stdout;
}

export interface Packed {
  tarball: string;
  /** The client and what it needs are installed here, and nothing else. */
  folder: string;
  remove(): Promise<void>;
}

/** The repository itself is left alone, so that tests may do this side by side. */
export async function pack(): Promise<Packed> {
  const build = await folderWith(Object.keys(INSTALLED));
  await Promise.all(
    ['package.json', 'tsconfig.json', 'README.md', 'COOKBOOK.md', 'src', 'build'].map((name) =>
      cp(join(CLIENT, name), join(build, name), { recursive: true }),
    ),
  );
  const { stdout } = await run('npm', ['pack', '--json', '--offline', '--foreground-scripts=false'], { cwd: build });
  const [{ filename = '' } = {}] = JSON.parse(stdout.slice(stdout.indexOf('['))) as { filename: string }[];
  const folder = await folderWith(Object.keys(INSTALLED).filter((name) => name !== 'openapi-typescript'));
  const place = join(folder, 'node_modules', '@quartermaster', 'client');
  await mkdir(place, { recursive: true });
  const tarball = join(build, filename);
  await extract({ file: tarball, cwd: place, strip: 1 });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  return {
    tarball,
    folder,
    remove: async () => {
      for (const one of [build, folder]) await rm(one, { recursive: true, force: true });
    },
  };
}
