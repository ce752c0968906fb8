/** An S3-compatible store in the test's own process: keeps objects by path, checks the signature, and can be told to fail. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';

const REGION = 'eu-test-1';
const ACCESS_KEY = 'test-access-key';
const SECRET = 'test-secret-of-the-store';

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (body: string | Buffer) => createHash('sha256').update(body).digest('hex');

/** AWS Signature Version 4, recomputed from the request as the store sees it. */
function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const [, credential = '', names = '', signature] =
    /^AWS4-HMAC-SHA256 Credential=(\S+?),\s*SignedHeaders=(\S+?),\s*Signature=([0-9a-f]{64})$/.exec(
      request.headers.authorization ?? '',
    ) ?? [];
  const [key, ...scope] = credential.split('/');
  const payload = String(request.headers['x-amz-content-sha256']);
  if (key !== ACCESS_KEY || scope[1] !== REGION) return false;
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== sha256(body)) return false;
  const url = new URL(request.url ?? '', 'http://store');
  const query = [...url.searchParams]
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .sort()
    .join('&');
  const headers = names.split(';').map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`);
  const canonical = [request.method, url.pathname, query, headers.join(''), names, payload].join('\n');
  const text = ['AWS4-HMAC-SHA256', request.headers['x-amz-date'], scope.join('/'), sha256(canonical)].join('\n');
  const signing = scope.reduce<Buffer | string>((secret, part) => hmac(secret, part), `AWS4${SECRET}`);
  return hmac(signing, text).toString('hex') === signature;
}

export async function openStore() {
  const objects = new Map<string, Buffer>();
  const state = { failing: false, losing: false, unsigned: 0 };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const path = decodeURIComponent(new URL(request.url ?? '', 'http://store').pathname).slice(1);
    const answer = (status: number, headers: Record<string, string | number> = {}) => {
      response.writeHead(status, headers);
      response.end();
    };
    if (!isSigned(request, body)) {
      state.unsigned += 1;
      return answer(403);
    }
    if (state.failing) return answer(503);
    if (request.method === 'PUT') {
      objects.set(path, state.losing ? body.subarray(0, 10) : body);
      return answer(200, { etag: `"${sha256(body).slice(0, 32)}"` });
    }
    const found = objects.get(path);
    return found ? answer(200, { 'content-length': found.length }) : answer(404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  return {
    objects,
    state,
    env: {
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_REGION: REGION,
      S3_BUCKET: 'trail',
      S3_ACCESS_KEY_ID: ACCESS_KEY,
      S3_SECRET_ACCESS_KEY: SECRET,
      S3_FORCE_PATH_STYLE: 'true',
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
