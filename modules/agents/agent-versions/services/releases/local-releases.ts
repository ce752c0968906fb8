/** Releases in a folder of this server, which needs no outbound access. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import semver from 'semver';
import { type Coordinates, fileName, VERSION } from '#agent-protocol';
import { errors } from '#core';
import { ManifestInvalid, ReleaseSourceMissing } from '../../errors.ts';
import { MAX_TEXT_BYTES, type Release, type ReleaseFile } from './releases.ts';

/** The path of a program of a version. */
export const localPath = (folder: string, version: string, at: Coordinates): string =>
  join(folder, version, fileName(at));

/** The given version, or the newest one that is not a prerelease. */
export function chosenVersion(names: readonly string[], version: string | null): string | undefined {
  const versions = names.filter((name) => VERSION.test(name));
  if (version !== null) return versions.find((name) => name === version);
  return versions.filter((name) => !name.includes('-')).sort(semver.rcompare)[0];
}

export async function findLocalRelease(folder: string, version: string | null): Promise<Release> {
  const names = await readdir(folder).catch(() => {
    throw ReleaseSourceMissing(`AGENT_BINARY_DIR cannot be read`);
  });
  const found = chosenVersion(names, version);
  if (!found) throw errors.NotFound('Release not found');
  const inside = await readdir(join(folder, found), { withFileTypes: true });
  // Symbolic links are ignored: they could lead out of the folder.
  const files = inside.filter((entry) => entry.isFile()).map(({ name }) => fileOf(join(folder, found), name));
  const notes = files.find(({ name }) => name === 'release-notes.md');
  return { version: found, source: 'local', notes: notes ? await notes.text() : null, files };
}

function fileOf(folder: string, name: string): ReleaseFile {
  const path = join(folder, name);
  return {
    name,
    url: null,
    async text() {
      if ((await lstat(path)).size > MAX_TEXT_BYTES) {
        throw ManifestInvalid({ details: [{ path: name, message: 'it is too large' }] });
      }
      return readFile(path, 'utf8');
    },
    async digest() {
      const hash = createHash('sha256');
      let size = 0;
      await pipeline(createReadStream(path), async (chunks) => {
        for await (const chunk of chunks as AsyncIterable<Buffer>) {
          hash.update(chunk);
          size += chunk.length;
        }
      });
      return { sha256: hash.digest('hex'), size };
    },
  };
}
