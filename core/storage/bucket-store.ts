/** Objects in the S3-compatible bucket that an installation is configured with. */
import { Readable } from 'node:stream';
import { type ObjectStorage, openBucketClient } from './bucket-client.ts';
import type { ObjectStore } from './store.ts';

/**
 * Its functions reject with the errors of the SDK.
 * @param prefix what its keys begin with in the bucket; empty or with a slash at its end
 */
export async function bucketStore(options: ObjectStorage, prefix: string): Promise<ObjectStore> {
  // Imported on demand, because it is large.
  const { GetObjectCommand, HeadObjectCommand, paginateListObjectsV2, PutObjectCommand } = await import(
    '@aws-sdk/client-s3'
  );
  const Bucket = options.bucket;
  const client = await openBucketClient(options);
  return {
    async put(key, content) {
      const Body = Buffer.from(content);
      const at = { Bucket, Key: prefix + key };
      await client.send(new PutObjectCommand({ ...at, Body, ContentLength: Body.length }));
      const { ContentLength } = await client.send(new HeadObjectCommand(at));
      if (ContentLength !== Body.length)
        throw new Error(`object storage kept ${ContentLength} of ${Body.length} bytes`);
    },
    async read(key) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key: prefix + key }));
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
    // A bucket shows an object when all of it has arrived.
    removeDrafts: async () => 0,
    close: () => client.destroy(),
  };
}
