/** The plugins that come with the server: each folder of `plugins/` as a package, with the same bytes on every machine. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { create } from 'tar';
import type { Manifest } from '#plugin-sdk/host';

const ROOT = join(import.meta.dirname, '../../../../../plugins');

export interface Shipped {
  folder: string;
  manifest: Manifest;
}
export interface Packed {
  content: Buffer;
  /** Bytes. */
  unpackedSize: number;
}

/** Their manifests are checked by the tests, so a first start does not compile the schema of manifests. */
export async function shippedPlugins(root = ROOT): Promise<Shipped[]> {
  const entries = await readdir(root, { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(root, name));
  return Promise.all(
    folders.sort().map(async (folder) => {
      const text = await readFile(join(folder, 'plugin.json'), 'utf8');
      return { folder, manifest: JSON.parse(text) as Manifest };
    }),
  );
}

let slugs: Promise<string[]> | null = null;
/** Their names, which are kept for them. */
export const shippedSlugs = (): Promise<string[]> => {
  slugs ??= shippedPlugins().then((all) => all.map(({ manifest }) => manifest.slug));
  return slugs;
};

/**
 * The folder without its tests. Stored rather than compressed, without times and owners: the SHA-256, which consent is bound
 * to, depends on nothing but the files.
 */
export async function packShipped({ folder }: Shipped): Promise<Packed> {
  const entries = await readdir(folder, { withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const chunks: Buffer[] = [];
  const stream = create({ cwd: folder, portable: true, mtime: new Date(0) }, files.sort());
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const packed = gzipSync(Buffer.concat(chunks), { level: 0 });
  // The byte of the header that names the operating system: unknown.
  packed[9] = 255;
  const sizes = await Promise.all(files.map(async (name) => (await stat(join(folder, name))).size));
  return { content: packed, unpackedSize: sizes.reduce((sum, size) => sum + size, 0) };
}
