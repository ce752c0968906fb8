/** Contents of files, which travel as streams and arrive whole or not at all. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  access,
  appendFile,
  chmod,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type Answering, bodyOf, line, MiB, nobody, refuse, sha256 } from './files-ground.ts';

test('a file is sent with its size first, and the answer names size and hash', async (t) => {
  let body: Buffer = Buffer.alloc(0);
  const { folder, run, requests } = await line(t, async (request, response) => {
    body = await bodyOf(request);
    response.end(JSON.stringify({ success: true, bytes: body.length }));
  });
  const content = randomBytes(3 * MiB + 17);
  const path = join(folder, 'file');
  await writeFile(path, content);
  const outcome = await run('file_read', { path, transfer: true });
  t.deepEqual(outcome, { status: 'completed', result: { path, size: content.length, sha256: sha256(content) } });
  t.true(body.equals(content));
  t.like(requests[0], { method: 'PUT', url: '/api/v1/agents/agent-1/transfers/c-1' });
  t.like(requests[0]?.headers, {
    authorization: 'Bearer the-token',
    'content-type': 'application/octet-stream',
    'x-file-size': String(content.length),
    'transfer-encoding': 'chunked',
  });
});

test('an empty file and a file of the kernel arrive whole', async (t) => {
  const bodies: string[] = [];
  const { folder, run } = await line(t, async (request, response) => {
    bodies.push(String(await bodyOf(request)));
    response.end('{}');
  });
  await writeFile(join(folder, 'empty'), '');
  t.like(await run('file_read', { path: join(folder, 'empty') }), { result: { size: 0, sha256: sha256('') } });
  const kernel = await run('file_read', { path: '/proc/version' });
  t.is(kernel.status, 'completed');
  t.is(bodies[0], '');
  t.is(bodies[1], await readFile('/proc/version', 'utf8'));
});

test('a file that grows is sent as it was, and one that shrinks fails', async (t) => {
  let change = async (): Promise<void> => undefined;
  const { folder, run } = await line(t, async (request, response) => {
    await once(request, 'readable');
    await change();
    await bodyOf(request).then(
      () => response.end('{}'),
      () => undefined,
    );
  });
  const path = join(folder, 'log');
  const content = randomBytes(24 * MiB);
  await writeFile(path, content);
  change = () => appendFile(path, 'more');
  t.like(await run('file_read', { path }), { result: { size: content.length, sha256: sha256(content) } });
  change = () => truncate(path, 10);
  t.like(await run('file_read', { path }), { status: 'failed', result: { code: 'CONFLICT' } });
});

test('an agent whose content nobody wants any more stops sending and reports it', async (t) => {
  let received = 0;
  const { folder, run } = await line(t, (request, response) => {
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
      if (!response.headersSent) refuse(410, 'GONE')(request, response);
    });
  });
  const path = join(folder, 'large');
  const file = await open(path, 'w');
  await file.truncate(2_000 * MiB);
  await file.close();
  const outcome = await run('file_read', { path });
  t.is(outcome.status, 'failed');
  // The connection may be cut before the words of the refusal have been read.
  t.regex(outcome.error ?? '', /refused with GONE|did not answer/);
  t.true(received < 500 * MiB, `${received}`);
});

test('a refusal for size is TOO_LARGE, and one of the token reaches the session', async (t) => {
  let answer = refuse(413, 'PAYLOAD_TOO_LARGE');
  const { folder, run, session } = await line(t, async (request, response) => {
    request.resume();
    answer(request, response);
  });
  const path = join(folder, 'file');
  await writeFile(path, 'x');
  t.like(await run('file_read', { path }), { status: 'failed', result: { code: 'TOO_LARGE' } });
  answer = refuse(401, 'UNAUTHENTICATED');
  t.is((await run('file_read', { path })).status, 'failed');
  t.is(session.condition, 'refused');
});

const serve =
  (content: Buffer, headers: Record<string, string> = {}): Answering =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/octet-stream', ...headers });
    response.end(content);
  };

test('a file is written beside its place and renamed, with size and hash in the answer', async (t) => {
  const content = randomBytes(2 * MiB + 3);
  const { folder, run, requests } = await line(t, serve(content, { 'x-file-sha256': sha256(content) }));
  const path = join(folder, 'new');
  const outcome = await run('file_write', { path, size: content.length, sha256: sha256(content), transfer: true });
  t.deepEqual(outcome, { status: 'completed', result: { path, size: content.length, sha256: sha256(content) } });
  t.true((await readFile(path)).equals(content));
  t.deepEqual(await readdir(folder), ['new']);
  t.like(requests[0], { method: 'GET', url: '/api/v1/agents/agent-1/transfers/c-1' });
  t.is((await stat(path)).mode & 0o777, 0o644);
});

test('an existing file is a CONFLICT without overwrite, and keeps its permissions with it', async (t) => {
  const { folder, run, requests } = await line(t, serve(Buffer.from('new')));
  const path = join(folder, 'file');
  await writeFile(path, 'old');
  await chmod(path, 0o751);
  t.like(await run('file_write', { path }), { status: 'failed', result: { code: 'CONFLICT' } });
  t.is(requests.length, 0, 'no content was asked for');
  t.is((await run('file_write', { path, overwrite: true })).status, 'completed');
  t.is(await readFile(path, 'utf8'), 'new');
  t.is((await stat(path)).mode & 0o777, 0o751);
});

test('a file that appears while the content arrives is not replaced', async (t) => {
  const place = { path: '' };
  const { folder, run } = await line(t, async (_request, response) => {
    await writeFile(place.path, 'theirs');
    response.end('ours');
  });
  place.path = join(folder, 'file');
  t.like(await run('file_write', { path: place.path }), { status: 'failed', result: { code: 'CONFLICT' } });
  t.is(await readFile(place.path, 'utf8'), 'theirs');
  t.deepEqual(await readdir(folder), ['file']);
});

test('writing to a link replaces the file to which it leads', async (t) => {
  const { folder, run } = await line(t, serve(Buffer.from('new')));
  await writeFile(join(folder, 'real'), 'old');
  await symlink('real', join(folder, 'link'));
  t.is((await run('file_write', { path: join(folder, 'link'), overwrite: true })).status, 'completed');
  t.is(await readFile(join(folder, 'real'), 'utf8'), 'new');
});

test('missing folders are made on request, and taken back when the content does not arrive', async (t) => {
  let answer: Answering = refuse(410, 'GONE');
  const { folder, run } = await line(t, (request, response) => answer(request, response));
  const path = join(folder, 'a/b/c/file');
  t.is((await run('file_write', { path, createParents: true })).status, 'failed');
  t.deepEqual(await readdir(folder), []);
  answer = serve(Buffer.from('x'));
  t.is((await run('file_write', { path, createParents: true })).status, 'completed');
  t.is(await readFile(path, 'utf8'), 'x');
});

test('content that breaks off, has another size or another hash leaves nothing behind', async (t) => {
  let answer: Answering = nobody;
  const { folder, run } = await line(t, (request, response) => answer(request, response));
  const path = join(folder, 'file');
  const payload = { path, size: 5, sha256: sha256('right') };
  const failing: [string, Answering][] = [
    [
      'broken off',
      (_request, response) => {
        response.write('rig', () => response.destroy());
      },
    ],
    ['another size', serve(Buffer.from('right!'))],
    ['another hash', serve(Buffer.from('wrong'))],
    ['another hash in the header', serve(Buffer.from('right'), { 'x-file-sha256': sha256('left') })],
    ['another size in the header', serve(Buffer.from('right'), { 'x-file-size': '6' })],
  ];
  for (const [name, next] of failing) {
    answer = next;
    t.is((await run('file_write', payload)).status, 'failed', name);
    t.deepEqual(await readdir(folder), [], name);
  }
  answer = serve(Buffer.from('right'), { 'x-file-size': '5' });
  t.is((await run('file_write', payload)).status, 'completed');
});

test('transfers of which nothing moves are given up, and leave nothing behind', async (t) => {
  // Neither reads what comes nor sends anything.
  const { folder, run } = await line(t, () => undefined);
  const timeout = { status: 'timeout', result: { code: 'TIMEOUT' } };
  t.like(await run('file_write', { path: join(folder, 'file') }, 50), timeout);
  t.deepEqual(await readdir(folder), []);
  await writeFile(join(folder, 'large'), Buffer.alloc(64 * MiB));
  t.like(await run('file_read', { path: join(folder, 'large') }, 50), timeout);
});

test('a program that runs cannot be overwritten in place, but is replaced as a whole', async (t) => {
  const { folder, run } = await line(t, serve(Buffer.from('new program')));
  const path = join(folder, 'program');
  await writeFile(path, '#!/bin/sh\n', { mode: 0o755 });
  await run('file_write', { path, overwrite: true });
  t.is((await stat(path)).mode & 0o111, 0o111);
});

test.serial('200 MB go out and come in within bounded memory', async (t) => {
  const part = randomBytes(MiB);
  const hash = createHash('sha256');
  for (let n = 0; n < 200; n += 1) hash.update(part);
  const expected = hash.digest('hex');
  let arrived = '';
  const { folder, run } = await line(t, async (request, response) => {
    if (request.method === 'GET') {
      response.writeHead(200, { 'x-file-sha256': expected });
      for (let n = 0; n < 200; n += 1) if (!response.write(part)) await once(response, 'drain');
      response.end();
      return;
    }
    const sum = createHash('sha256');
    for await (const chunk of request as AsyncIterable<Buffer>) sum.update(chunk);
    arrived = sum.digest('hex');
    response.end('{}');
  });
  let most = 0;
  const before = process.memoryUsage().rss;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  t.teardown(() => clearInterval(watch));
  const path = join(folder, 'large');
  t.like(await run('file_write', { path, sha256: expected }), { status: 'completed', result: { size: 200 * MiB } });
  t.like(await run('file_read', { path }), { status: 'completed', result: { sha256: expected } });
  t.is(arrived, expected);
  // The server is in this process too, so both ends are counted.
  t.true(most - before < 120 * MiB, `${Math.round((most - before) / MiB)} MiB`);
  t.log(`${Math.round((most - before) / MiB)} MiB more`);
  await rm(path);
  await t.throwsAsync(access(path));
});
