/** Objects in the S3-compatible bucket that an installation is configured with. */
import { Readable } from 'node:stream';
import { type ObjectStorage, openBucketClient } from './bucket-client.ts';
import { ObjectMissing, type ObjectStore, type StoreArea } from './store.ts';

/** Its functions reject with the errors of the SDK. */
export async function bucketStore(options: ObjectStorage, { prefix }: StoreArea): Promise<ObjectStore> {
  // Imported on demand, because it is large.
  const {
    DeleteObjectCommand,
    GetObjectCommand,
    HeadObjectCommand,
    NoSuchKey,
    paginateListObjectsV2,
    PutObjectCommand,
  } = await import('@aws-sdk/client-s3');
  const Bucket = options.bucket;
  const client = await openBucketClient(options);
  return {
    kind: 'bucket',
    async put(key, content) {
      const Body = Buffer.from(content);
      const at = { Bucket, Key: prefix + key };
      await client.send(new PutObjectCommand({ ...at, Body, ContentLength: Body.length }));
      const { ContentLength } = await client.send(new HeadObjectCommand(at));
      if (ContentLength !== Body.length)
        throw new Error(`object storage kept ${ContentLength} of ${Body.length} bytes`);
    },
    async read(key, range) {
      const at = { Bucket, Key: prefix + key, ...(range ? { Range: `bytes=${range.from}-${range.to}` } : {}) };
      const { Body } = await client.send(new GetObjectCommand(at)).catch((error: unknown) => {
        throw error instanceof NoSuchKey ? new ObjectMissing(key) : error;
      });
      // In Node the SDK gives a stream of Node.
      if (!(Body instanceof Readable)) throw new Error(`object storage gave no content of ${key}`);
      return Body;
    },
    async list(folder) {
      const found: { key: string; size: number }[] = [];
      for await (const page of paginateListObjectsV2({ client }, { Bucket, Prefix: prefix + folder }))
        for (const { Key = '', Size = 0 } of page.Contents ?? [])
          found.push({ key: Key.slice(prefix.length), size: Size });
      return found.sort((a, b) => (a.key < b.key ? -1 : 1));
    },
    async remove(key) {
      await client.send(new DeleteObjectCommand({ Bucket, Key: prefix + key }));
    },
    // A bucket shows an object when all of it has arrived.
    removeDrafts: async () => 0,
    close: () => client.destroy(),
  };
}
