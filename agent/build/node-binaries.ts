/** Fetches Node's binaries from the npm registry into a folder that keeps them. */
import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hostTarget, type Target } from './targets.ts';

const run = promisify(execFile);

/** The path of a target's Node in this version. Rejects with a sentence where the registry has none. */
export async function nodeBinary(target: Target, version: string, cache: string): Promise<string> {
  if (target === hostTarget() && version === process.versions.node) return process.execPath;
  const place = join(cache, `${target.package}-${version}`);
  const file = join(place, 'package', target.file);
  if (await exists(file)) return file;
  await mkdir(cache, { recursive: true });
  const work = await mkdtemp(join(cache, 'fetch-'));
  try {
    // npm checks what it fetches against the registry's integrity hash.
    await run('npm', ['pack', '--silent', `${target.package}@${version}`, '--pack-destination', work], {
      cwd: work,
      shell: process.platform === 'win32',
    });
    const archive = (await readdir(work)).find((name) => name.endsWith('.tgz')) ?? '';
    await run('tar', ['-xzf', archive], { cwd: work });
    await rename(work, place);
  } catch (fault) {
    await rm(work, { recursive: true, force: true });
    if (await exists(file)) return file;
    const why = fault instanceof Error ? fault.message.split('\n')[0] : String(fault);
    throw new Error(`no Node ${version} for ${target.name}: ${target.package} could not be fetched (${why})`);
  }
  return file;
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
