/** Packages for tests: a manifest and a source, packed as an author would. */

import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { create } from 'tar';
import type { CapabilityName, Manifest } from '#plugin-sdk/host';

let count = 0;
export const newSlug = (): string => `plugin-${process.pid}-${++count}`;

export const manifest = (changes: Partial<Manifest> = {}): Manifest => ({
  manifestVersion: 1,
  slug: newSlug(),
  name: 'Test plugin',
  version: '1.0.0',
  description: 'For tests',
  author: 'Tests',
  license: 'MIT',
  type: 'automation',
  engine: { api: '^1.0.0' },
  main: 'dist/index.js',
  ...changes,
});
export const wants = (...names: CapabilityName[]) => names.map((name) => ({ name, reason: `To test ${name}` }));

/** @param files on top of the manifest and the main file */
export async function pack(
  given: Partial<Manifest>,
  source: string,
  files: Record<string, string> = {},
): Promise<{ content: Buffer; manifest: Manifest }> {
  const full = manifest(given);
  const folder = await mkdtemp(join(tmpdir(), 'plugin-package-'));
  try {
    const all: Record<string, string> = { 'plugin.json': JSON.stringify(full), [full.main]: source, ...files };
    for (const [path, text] of Object.entries(all)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await writeFile(join(folder, path), text);
    }
    const file = `${folder}.tgz`;
    await create({ gzip: true, cwd: folder, file }, Object.keys(all));
    const content = await readFile(file);
    await rm(file);
    return { content, manifest: full };
  } finally {
    await rm(folder, { recursive: true });
  }
}
