/** Releases in the object storage of this installation, with the same layout as in a folder. */
import { createHash } from 'node:crypto';
import { errors, type ObjectStorage, type ObjectStore, openReleases } from '#core';
import { ManifestInvalid, UpstreamFailed } from '../../errors.ts';
import { chosenVersion } from './local-releases.ts';
import { MAX_TEXT_BYTES, type Release, type ReleaseFile } from './releases.ts';

/** Runs `take` with the release and closes the storage afterwards. Must not run within a transaction. */
export async function withStoredRelease<T>(
  storage: ObjectStorage,
  version: string | null,
  take: (release: Release) => Promise<T>,
): Promise<T> {
  const store = await openReleases(storage);
  try {
    // The objects are `<version>/<file>`; what lies deeper belongs to no release.
    const objects = (await upstream(store.list(''))).map(({ key, size }) => ({ path: key.split('/'), size }));
    const found = chosenVersion([...new Set(objects.map(({ path: [folder = ''] }) => folder))], version);
    if (!found) throw errors.NotFound('Release not found');
    const inside = objects.filter(({ path }) => path.length === 2 && path[0] === found);
    const release = inside.map(({ path: [, name = ''], size }) => fileOf(store, `${found}/`, name, size));
    const notes = release.find(({ name }) => name === 'release-notes.md');
    return await take({ version: found, source: 'local', notes: notes ? await notes.text() : null, files: release });
  } finally {
    store.close();
  }
}

function fileOf(store: ObjectStore, folder: string, name: string, size: number): ReleaseFile {
  const pieces = () => upstream(store.read(`${folder}${name}`));
  return {
    name,
    // The file is found by its coordinates, and each download request gets a new link.
    url: null,
    async text() {
      if (size > MAX_TEXT_BYTES) throw ManifestInvalid({ details: [{ path: name, message: 'it is too large' }] });
      const chunks: Uint8Array[] = [];
      await upstream(each(await pieces(), (chunk) => chunks.push(chunk)));
      return Buffer.concat(chunks).toString('utf8');
    },
    async digest() {
      const hash = createHash('sha256');
      let bytes = 0;
      const measure = (chunk: Uint8Array) => {
        hash.update(chunk);
        bytes += chunk.length;
      };
      await upstream(each(await pieces(), measure));
      return { sha256: hash.digest('hex'), size: bytes };
    },
  };
}

async function each(pieces: AsyncIterable<Uint8Array>, take: (chunk: Uint8Array) => void): Promise<void> {
  for await (const chunk of pieces) take(chunk);
}

/** Reports that the storage failed, without its error message. */
async function upstream<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: Error) => {
    throw UpstreamFailed({
      message: 'The object storage returned an error',
      details: [{ message: error.name }],
    });
  });
}
