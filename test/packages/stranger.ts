/** The folder of somebody who has this repository's tarballs and nothing else of it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../core/loader/load.ts';

export const run = promisify(execFile);
const EXAMPLE = join(ROOT, 'packages/example-module');

/** Unpacks where `npm install` of the tarball would; links to the npm packages stand in for the registry. */
export async function install(tarball: string, name: string, folder: string): Promise<string> {
  const target = join(folder, 'node_modules', name);
  await mkdir(target, { recursive: true });
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1']);
  return target;
}

async function linkPackages(folder: string): Promise<void> {
  const from = join(ROOT, 'node_modules');
  const names = (await readdir(from)).filter((name) => !name.startsWith('.') && name !== '@quartermaster');
  for (const name of names) {
    const inside = name.startsWith('@') ? await readdir(join(from, name)) : [''];
    for (const one of inside) {
      const path = join(name, one);
      await mkdir(join(folder, 'node_modules', one ? name : ''), { recursive: true });
      await symlink(join(from, path), join(folder, 'node_modules', path));
    }
  }
}

/** The sources of the example. */
export async function layOutExample(folder: string): Promise<void> {
  for (const name of ['package.json', 'tsconfig.json', 'tsconfig.build.json', 'src', 'migrations', 'test']) {
    await cp(join(EXAMPLE, name), join(folder, name), { recursive: true });
  }
}

/** The files that the kit's README has one write: a path in backticks, then a block. */
export async function layOutReadme(folder: string): Promise<string[]> {
  const text = await readFile(join(ROOT, 'packages/module-kit/README.md'), 'utf8');
  const files = [...text.matchAll(/`([\w./-]+\.(?:json|ts))`[^\n]*\n\n```(?:json|ts)\n([\s\S]*?)```/g)];
  for (const [, path = '', content = ''] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return files.map(([, path = '']) => path);
}

/** A folder with the kit and what it needs, as `npm install` leaves it. */
export async function strangerFolder(kit: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'quartermaster-stranger-'));
  await linkPackages(folder);
  await install(kit, '@quartermaster/module-kit', folder);
  return folder;
}

export const tsc = (folder: string, ...args: string[]) =>
  run(join(ROOT, 'node_modules/.bin/tsc'), args, { cwd: folder });

/** Runs tests as in a terminal: of what this run has set up, a stranger has nothing. */
export async function nodeTest(folder: string): Promise<string> {
  const { PATH = '', HOME = '' } = process.env;
  const args = ['--test', '--test-reporter=tap'];
  return (await run(process.execPath, args, { cwd: folder, env: { PATH, HOME } })).stdout;
}

export const removeFolder = (folder: string) => rm(folder, { recursive: true, force: true });
