/** A real S3-compatible server for tests (s3rver; it checks access keys, not signatures of version 4), with faults on demand. */
import { once } from 'node:events';
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import S3rver from 's3rver';

const NAME = 'quartermaster-tests';
const REGION = 'eu-test-1';
/** The only account of this server. */
const KEY = 'S3RVER';
const KEPT_BYTES = 10;

export async function openS3Server() {
  const folder = await mkdtemp(join(tmpdir(), 's3-'));
  // `failing` answers 503, `losing` keeps the first bytes of what is put.
  const state = { failing: false, losing: false, refused: 0 };
  const s3 = new S3rver({ silent: true, directory: folder, configureBuckets: [{ name: NAME, configs: [] }] });
  await s3.configureBuckets();
  const answer = s3.callback() as RequestListener;
  const server = createServer(async (request, response) => {
    if (state.failing) return response.writeHead(503).end();
    response.once('finish', () => {
      if (response.statusCode === 403) state.refused += 1;
    });
    // Lost between the answer to the put and the first look at the object.
    if (state.losing && request.method === 'HEAD') {
      const path = decodeURIComponent(new URL(request.url ?? '', 'http://store').pathname);
      await truncate(join(folder, `${path}._S3rver_object`), KEPT_BYTES).catch(() => undefined);
    }
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const client = new S3Client({
    ...{ endpoint, region: REGION, forcePathStyle: true },
    credentials: { accessKeyId: KEY, secretAccessKey: KEY },
    ...{ requestChecksumCalculation: 'WHEN_REQUIRED', responseChecksumValidation: 'WHEN_REQUIRED' },
  });
  return {
    name: NAME,
    state,
    env: {
      ...{ S3_ENDPOINT: endpoint, S3_REGION: REGION, S3_BUCKET: NAME },
      ...{ S3_ACCESS_KEY_ID: KEY, S3_SECRET_ACCESS_KEY: KEY, S3_FORCE_PATH_STYLE: 'true' },
    },
    put: (Key: string, Body: string | Uint8Array) => client.send(new PutObjectCommand({ Bucket: NAME, Key, Body })),
    async read(Key: string): Promise<Uint8Array> {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: NAME, Key }));
      if (!Body) throw new Error(`${Key} has no content`);
      return Body.transformToByteArray();
    },
    /** Of the first thousand objects. */
    async keys(): Promise<string[]> {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: NAME }));
      return Contents.map(({ Key = '' }) => Key);
    },
    async close(): Promise<void> {
      client.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
