/** An S3-compatible store in the test's own process that lists and serves objects, and counts unsigned requests. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const REGION = 'eu-test-1';
const KEY_ID = 'test-access-key';

export async function openBucket() {
  const objects = new Map<string, Buffer>();
  const state = { failing: false, unsigned: 0 };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://store');
    const [, bucket, ...rest] = decodeURIComponent(url.pathname).split('/');
    const query = url.searchParams;
    const credential = query.get('X-Amz-Credential') ?? request.headers.authorization ?? '';
    const signed = credential.includes(`${KEY_ID}/`) && credential.includes(`/${REGION}/s3/aws4_request`);
    if (!signed) state.unsigned += 1;
    if (state.failing || !signed || bucket !== 'agents-bucket')
      return response.writeHead(state.failing ? 503 : 403).end();
    if (query.get('list-type') === '2') return response.end(listing(query.get('prefix') ?? ''));
    const found = objects.get(rest.join('/'));
    return found
      ? response.writeHead(200, { 'content-length': found.length }).end(found)
      : response.writeHead(404).end();
  });
  function listing(prefix: string): string {
    const below = [...objects].filter(([key]) => key.startsWith(prefix)).map(([key, body]) => ({ key, body }));
    const folders = new Set(below.flatMap(({ key }) => key.slice(prefix.length).match(/^[^/]+\//)?.[0] ?? []));
    const files = below.filter(({ key }) => !key.slice(prefix.length).includes('/'));
    return `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${files
      .map(({ key, body }) => `<Contents><Key>${key}</Key><Size>${body.length}</Size></Contents>`)
      .join('')}${[...folders]
      .map((folder) => `<CommonPrefixes><Prefix>${prefix}${folder}</Prefix></CommonPrefixes>`)
      .join('')}</ListBucketResult>`;
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    objects,
    state,
    env: {
      ...{ S3_ENDPOINT: `http://127.0.0.1:${port}`, S3_REGION: REGION, S3_BUCKET: 'agents-bucket' },
      ...{ S3_ACCESS_KEY_ID: KEY_ID, S3_SECRET_ACCESS_KEY: 'test-secret', S3_FORCE_PATH_STYLE: 'true' },
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
