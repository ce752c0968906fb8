/** A package, made in memory: the same bytes from the same sources on every machine, and read back as a server does. */
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Manifest, type PluginPackage, packageHash, readPackage } from '@quartermaster/plugin-sdk/host';
import { create } from 'tar';
import { bundle } from './bundle.ts';
import { extrasOf, FolderFaults, type PluginFolder } from './plugin-folder.ts';

export interface Made {
  content: Buffer;
  sha256: string;
  manifest: Manifest;
  files: PluginPackage['files'];
}

/** @param version another than the manifest's. Throws FolderFaults. */
export async function packageOf(folder: PluginFolder, version = folder.manifest.version): Promise<Made> {
  const manifest = { ...folder.manifest, version };
  const files = new Map<string, string | Buffer>();
  for (const path of await extrasOf(folder)) files.set(path, await readFile(join(folder.path, path)));
  files.set('plugin.json', `${JSON.stringify(manifest, null, 2)}\n`);
  files.set(manifest.main, await bundle(folder));
  const content = await archive(files);
  const read = await readPackage(content).catch((error: Error) => {
    throw new FolderFaults([{ path: 'package', message: error.message }]);
  });
  return { content, sha256: packageHash(content), manifest, files: read.files };
}

/** Sorted, without times, owners and the system's name. */
async function archive(files: ReadonlyMap<string, string | Buffer>): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-pack-'));
  try {
    const names = [...files.keys()].sort();
    for (const name of names) {
      await mkdir(dirname(join(folder, name)), { recursive: true });
      await writeFile(join(folder, name), files.get(name) ?? '');
      await chmod(join(folder, name), 0o644);
    }
    const file = join(folder, '.package.tgz');
    await create(
      { cwd: folder, file, gzip: { level: 9 }, portable: true, mtime: new Date(0), noDirRecurse: true },
      names,
    );
    return await readFile(file);
  } finally {
    await rm(folder, { recursive: true });
  }
}
