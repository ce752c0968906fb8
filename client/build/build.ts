/** Makes `dist/`: JavaScript and types, once as ES modules and once as CommonJS. */
import { execFile } from 'node:child_process';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CLIENT = join(import.meta.dirname, '..');
const DIST = join(CLIENT, 'dist');
const run = promisify(execFile);
const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript')), 'tsc.js');
const compile = (folder: string, out: string) =>
  run(process.execPath, [tsc, '-p', folder, '--outDir', out]).catch((fault: { stdout: string }) => {
    throw new Error(fault.stdout);
  });

/** TypeScript takes a file's module format from the nearest package.json, so CommonJS is made from a copy under another one. */
async function commonJs(): Promise<void> {
  const copy = join(CLIENT, 'dist', '.commonjs');
  const marker = JSON.stringify({ type: 'commonjs' });
  await mkdir(copy, { recursive: true });
  await cp(join(CLIENT, 'src'), join(copy, 'src'), { recursive: true });
  await cp(join(CLIENT, 'tsconfig.json'), join(copy, 'tsconfig.json'));
  await writeFile(join(copy, 'package.json'), marker);
  await compile(copy, join(DIST, 'cjs'));
  await writeFile(join(DIST, 'cjs', 'package.json'), marker);
  await rm(copy, { recursive: true });
}

await rm(DIST, { recursive: true, force: true });
await Promise.all([compile(CLIENT, join(DIST, 'esm')), commonJs()]);
