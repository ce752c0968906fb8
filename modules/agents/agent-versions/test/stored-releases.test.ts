/** Releases in the object storage: registered from there, and served through short-lived links. */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { presignedUrl } from '#core';
import { type ErrorBody, openS3Server, startTestPlatform, systemUser } from '#test';
import { layOut, newFolder, programOf, sha256, signer, startLocal, sync } from './ground.ts';

const bucket = await openS3Server();
const folder = await newFolder();
const platform = await startTestPlatform({
  ...{ BINARY_SOURCE: 'local', AGENT_TRUST_KEYS: signer.trust, TRUST_PROXY_HEADERS: 'true', ...bucket.env },
});
const admin = await systemUser(platform);
test.after.always(async () => {
  await platform.stop();
  await bucket.close();
  await rm(folder, { recursive: true });
});

async function upload(version: string): Promise<void> {
  const place = await layOut(folder, version);
  for (const name of await readdir(place)) {
    await bucket.put(`agents/${version}/${name}`, await readFile(join(place, name)));
  }
}
const raw = (path: string) => fetch(`${platform.url}/api/v1${path}`, { redirect: 'manual' });

test.serial(
  'the newest release in the bucket is registered, and its programs are served through links of ten minutes',
  async (t) => {
    await bucket.put('agents/1.0.0/release-notes.md', Buffer.from('Better'));
    await upload('0.9.0');
    await upload('1.0.0');
    await upload('1.1.0-rc.1');
    const taken = await sync(platform, admin.token);
    t.is(taken.status, 200, JSON.stringify(taken.body));
    t.is(taken.body.version, '1.0.0');
    t.is(taken.body.synced.length, 3);
    const found = await raw('/agents/download/linux/amd64');
    t.is(found.status, 302);
    t.is(found.headers.get('cache-control'), 'no-store');
    const link = new URL(found.headers.get('location') ?? '');
    t.is(link.pathname, `/${bucket.name}/agents/1.0.0/agent-linux-amd64`);
    t.is(link.searchParams.get('X-Amz-Expires'), '600');
    t.is(await (await fetch(link)).text(), programOf('1.0.0', 'agent-linux-amd64'));
    const path = '/agent-versions/1.0.0/download?platform=linux&arch=amd64';
    const given = await platform.call<{ url: string; checksum: string }>('GET', path, { token: admin.token });
    const body = await (await fetch(given.body.url)).text();
    t.is(sha256(body), given.body.checksum);
    const latest = await raw('/agent-versions/latest?platform=linux&arch=amd64');
    const named = (await latest.json()) as { downloadUrl: string; releaseNotes: string };
    t.regex(
      named.downloadUrl,
      /\/api\/v1\/agents\/download\//,
      'answers name a route of this server, which does not expire',
    );
    t.is(named.releaseNotes, 'Better');
    t.is(bucket.state.refused, 0);
  },
);

test.serial('missing releases and wrong manifests are rejected; a storage that does not answer is 502', async (t) => {
  const missing = await sync(platform, admin.token, '3.0.0');
  t.is(missing.status, 404);
  await upload('1.2.0');
  await bucket.put('agents/1.2.0/agent-linux-amd64', Buffer.from('something else'));
  const changed = await sync(platform, admin.token, '1.2.0');
  t.deepEqual([changed.status, changed.body.error.code], [422, 'CHECKSUM_MISMATCH']);
  await bucket.put('agents/1.2.0/checksums.txt', Buffer.alloc(300_000, 'x'));
  t.is((await sync(platform, admin.token, '1.2.0')).status, 422);
  bucket.state.failing = true;
  const away = await sync(platform, admin.token, '1.0.0');
  t.deepEqual([away.status, away.body.error.code], [502, 'UPSTREAM_ERROR']);
  bucket.state.failing = false;
});

test('a link is signed by AWS Signature Version 4', (t) => {
  // The example of AWS: "Authenticating Requests: Using Query Parameters (AWS Signature Version 4)".
  const url = presignedUrl(
    {
      ...{ endpoint: 'https://s3.amazonaws.com', region: 'us-east-1', bucket: 'examplebucket', forcePathStyle: false },
      ...{ accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY' },
    },
    'test.txt',
    86_400,
    new Date('2013-05-24T00:00:00.000Z'),
  );
  t.true(url.startsWith('https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&'));
  t.is(
    new URL(url).searchParams.get('X-Amz-Signature'),
    'aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
});

test('a configured folder has precedence over the bucket, and limits the concurrent downloads', async (t) => {
  const own = await startLocal({ ...bucket.env, AGENT_DOWNLOADS_MAX: '1' });
  t.teardown(() => own.test.stop());
  const place = await layOut(own.folder, '2.0.0', ['agent-linux-amd64']);
  // More than the buffers between here and there hold, so that a reader who waits keeps it being sent.
  await writeFile(join(place, 'agent-linux-amd64'), Buffer.alloc(40_000_000, 'x'));
  const { signFolder } = await import('../../../../agent/signing/folder.ts');
  await signFolder(place, { version: '2.0.0', ...signer });
  t.is((await sync(own.test, (await systemUser(own.test)).token)).status, 200);
  const get = (headers: Record<string, string> = {}) =>
    fetch(`${own.test.url}/api/v1/agents/download/linux/amd64`, { headers });
  const leaving = new AbortController();
  const first = await fetch(`${own.test.url}/api/v1/agents/download/linux/amd64`, { signal: leaving.signal });
  t.is(first.status, 200);
  const second = await get();
  t.is(second.status, 503);
  t.is(second.headers.get('retry-after'), '30');
  t.is(((await second.json()) as ErrorBody).error.code, 'UNAVAILABLE');
  leaving.abort();
  // A place is free a moment after the download has ended.
  const getInTurn = async (headers?: Record<string, string>) => {
    let answer = await get(headers);
    while (answer.status === 503) answer = await get(headers);
    return answer;
  };
  const third = await getInTurn();
  t.is((await third.arrayBuffer()).byteLength, 40_000_000);
  // Neither does what is not read hold a place.
  const etag = third.headers.get('etag') ?? '';
  for (const _ of [1, 2]) t.is((await getInTurn({ 'if-none-match': etag })).status, 304);
  t.is((await getInTurn({ range: 'bytes=0-3' })).status, 206);
});
