/** The store of archives and checkpoints: an S3-compatible bucket when configured, else a folder of this installation. */
import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Services } from '../context/index.ts';
import { type ObjectStorage, openBucketClient } from '../storage/bucket-client.ts';

type Config = Services['config'];

export interface ObjectStore {
  /** Resolves when the object is stored with all its bytes; writing it again replaces it. */
  put(key: string, body: string | Buffer): Promise<void>;
  /** The keys that begin with this folder, which ends in a slash, in their order. */
  list(folder: string): Promise<string[]>;
  /** The text of an object; rejects where there is none. */
  get(key: string): Promise<string>;
  close(): void;
}

/** The store of this configuration. Do not call it within a transaction: it may use the network. */
export async function objectStore(config: Pick<Config, 'objectStorage' | 'dataDir'>): Promise<ObjectStore> {
  return config.objectStorage ? bucket(config.objectStorage) : folder(join(config.dataDir, 'archive'));
}

async function bucket(options: ObjectStorage): Promise<ObjectStore> {
  // Imported on demand, because it is large.
  const { PutObjectCommand, HeadObjectCommand, GetObjectCommand, ListObjectsV2Command } = await import(
    '@aws-sdk/client-s3'
  );
  const Bucket = options.bucket;
  const client = await openBucketClient(options);
  return {
    async put(Key, body) {
      const Body = Buffer.from(body);
      await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength: Body.length }));
      const { ContentLength } = await client.send(new HeadObjectCommand({ Bucket, Key }));
      if (ContentLength !== Body.length)
        throw new Error(`object storage kept ${ContentLength} of ${Body.length} bytes`);
    },
    async list(Prefix) {
      const keys: string[] = [];
      let token: string | undefined;
      do {
        const page = await client.send(
          new ListObjectsV2Command({ Bucket, Prefix, ...(token ? { ContinuationToken: token } : {}) }),
        );
        keys.push(...(page.Contents ?? []).flatMap(({ Key }) => Key ?? []));
        token = page.NextContinuationToken;
      } while (token);
      return keys.sort();
    },
    async get(Key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      if (!Body) throw new Error(`object storage gave no content of ${Key}`);
      return Body.transformToString();
    },
    close: () => client.destroy(),
  };
}

function folder(root: string): ObjectStore {
  return {
    async put(key, body) {
      const path = join(root, ...key.split('/'));
      const draft = `${path}.${randomUUID()}`;
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      try {
        const file = await open(draft, 'wx', 0o600);
        try {
          await file.writeFile(body);
          await file.sync();
        } finally {
          await file.close();
        }
        // A rename makes the object visible with all its bytes or not at all.
        await rename(draft, path);
      } finally {
        await rm(draft, { force: true });
      }
    },
    async list(folder) {
      const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true }).catch(ifMissing);
      // Drafts have an id behind their ending.
      const files = entries.filter((entry) => entry.isFile() && /\.(ndjson|gz)$/.test(entry.name));
      return files.map((file) => relative(root, join(file.parentPath, file.name)).split(sep).join('/')).sort();
    },
    get: (key) => readFile(join(root, ...key.split('/')), 'utf8'),
    close: () => undefined,
  };
}

/** Before the first object there is no folder. */
function ifMissing(error: NodeJS.ErrnoException): [] {
  if (error.code !== 'ENOENT') throw error;
  return [];
}
