/** The outbound client against real servers on this machine. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createTcpServer, type LookupFunction } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import test from 'ava';
import { answering, listen, local, open, serve } from './local-server.ts';

test('sends method, fields and body, and gives back status, fields and body', async (t) => {
  const url = await serve(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(201, { 'x-answer': 'yes' });
    response.end(JSON.stringify({ method: request.method, url: request.url, body: String(Buffer.concat(chunks)) }));
  });
  const answer = await open(t).request(`${url}/a/b?c=d#e`, { method: 'POST', headers: { 'X-A': 'b' }, body: 'hällo' });
  t.is(answer.status, 201);
  t.is(answer.headers['x-answer'], 'yes');
  t.deepEqual(answer.json(), { method: 'POST', url: '/a/b?c=d', body: 'hällo' });
});

test('any status is an answer', async (t) => {
  const url = await serve(t, (_request, response) => response.writeHead(500).end('oh'));
  const answer = await open(t).request(url);
  t.is(answer.status, 500);
  t.is(answer.text(), 'oh');
  t.throws(() => answer.json(), { code: 'UPSTREAM_ERROR' });
});

test('this machine is refused unless its network is allowed', async (t) => {
  let reached = 0;
  const url = await serve(t, (_request, response) => response.end(String(++reached)));
  const { port } = new URL(url);
  const closed = open(t, { allowHttp: true });
  for (const host of ['127.0.0.1', 'localhost', '0.0.0.0', '[::1]', '[::ffff:127.0.0.1]', '2130706433']) {
    await t.throwsAsync(closed.request(`http://${host}:${port}/`), { code: 'URL_BLOCKED' }, host);
  }
  t.is(reached, 0);
  t.is((await open(t).request(url)).text(), '1');
});

test('a name for this machine is refused however it is written', async (t) => {
  const client = open(t, { allowHttp: true, lookup: answering(['127.0.0.1'], ['::1']) });
  for (const host of ['localhost', 'localhost.', 'LOCALHOST', 'a.localhost', '127.0.0.1.nip.example']) {
    await t.throwsAsync(client.request(`http://${host}/`), { code: 'URL_BLOCKED' }, host);
  }
});

test('plain http is refused unless allowed', async (t) => {
  const client = open(t, { allowCidrs: ['127.0.0.0/8'] });
  await t.throwsAsync(client.request(await serve(t, (_request, response) => response.end())), { code: 'URL_BLOCKED' });
});

test('a name is looked up once, and the connection goes to the address that was checked', async (t) => {
  const hosts: (string | undefined)[] = [];
  const url = await serve(t, (request, response) => response.end(String(hosts.push(request.headers.host))));
  const { port } = new URL(url);
  const lookup = answering(['127.0.0.1'], ['10.0.0.1']);
  await open(t, { ...local, lookup }).request(`http://hooks.example.com:${port}/`);
  t.deepEqual(lookup.asked, ['hooks.example.com']);
  t.deepEqual(hosts, [`hooks.example.com:${port}`]);
});

test('a name that later leads elsewhere is refused on the next connection', async (t) => {
  const url = await serve(t, (_request, response) => response.writeHead(200, { connection: 'close' }).end('ok'));
  const { port } = new URL(url);
  const lookup = answering(['127.0.0.1'], ['169.254.169.254']);
  const client = open(t, { ...local, lookup });
  t.is((await client.request(`http://rebind.example.com:${port}/`)).text(), 'ok');
  await t.throwsAsync(client.request(`http://rebind.example.com:${port}/`), { code: 'URL_BLOCKED' });
  t.is(lookup.asked.length, 2);
});

test('one inward address among the answers refuses the name', async (t) => {
  const client = open(t, { allowHttp: true, lookup: answering(['93.184.215.14', '127.0.0.1']) });
  await t.throwsAsync(client.request('http://mixed.example.com/'), { code: 'URL_BLOCKED' });
});

test('a name without an address is a failure of the other side', async (t) => {
  const lookup: LookupFunction = (_host, _options, callback) =>
    callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), '');
  const client = open(t, { ...local, lookup });
  await t.throwsAsync(client.request('http://nowhere.example.com/'), { code: 'UPSTREAM_ERROR', message: /resolved/ });
});

test('the caller cannot set the host, hop-by-hop fields or a false length', async (t) => {
  const url = await serve(t, (request, response) => response.end(JSON.stringify(request.headers)));
  const headers = {
    Host: 'inner.example',
    'Content-Length': '3',
    'Proxy-Authorization': 'x',
    TE: 'trailers',
    'X-Own': 'y',
  };
  const seen = (await open(t).request(url, { headers })).json() as Record<string, string>;
  t.is(seen.host, new URL(url).host);
  t.is(seen['x-own'], 'y');
  for (const name of ['content-length', 'proxy-authorization', 'te']) t.false(name in seen, name);
});

test('a header field that would smuggle a line is refused', async (t) => {
  const url = await serve(t, (_request, response) => response.end());
  const error = await t.throwsAsync(open(t).request(url, { headers: { 'x-a': 'b\r\nx-c: d' } }));
  t.like(error, { code: 'UPSTREAM_ERROR', reason: 'request' });
});

test('a body above the bound is refused, announced or not, and exactly the bound is accepted', async (t) => {
  let closedEarly = 0;
  const url = await serve(t, (request, response) => {
    response.on('close', () => !response.writableFinished && closedEarly++);
    if (request.url === '/announced') return response.writeHead(200, { 'content-length': '1001' }).write('x');
    if (request.url === '/exact') return response.end('x'.repeat(1000));
    const more = () => response.destroyed || response.write('x'.repeat(400), more);
    more();
  });
  const client = open(t);
  const small = { maxBytes: 1000 };
  t.is((await client.request(`${url}/exact`, small)).body.length, 1000);
  t.like(await t.throwsAsync(client.request(`${url}/announced`, small)), { reason: 'too_large' });
  t.like(await t.throwsAsync(client.request(`${url}/endless`, small)), { reason: 'too_large' });
  while (closedEarly < 2) await new Promise((resolve) => setImmediate(resolve));
  t.pass('both connections were cut');
});

test('an answer to HEAD may announce any length', async (t) => {
  const url = await serve(t, (_request, response) => response.writeHead(200, { 'content-length': '9999999' }).end());
  t.is((await open(t).request(url, { method: 'HEAD' })).body.length, 0);
});

test('compressed bodies are decompressed', async (t) => {
  const codings = { gzip: gzipSync, br: brotliCompressSync, deflate: deflateSync };
  const url = await serve(t, (request, response) => {
    const name = request.url?.slice(1) as keyof typeof codings;
    response.writeHead(200, { 'content-encoding': name }).end(codings[name]('{"a":1}'));
  });
  for (const name of Object.keys(codings))
    t.deepEqual((await open(t).request(`${url}/${name}`)).json(), { a: 1 }, name);
});

test('a small body that decompresses to a large one is refused', async (t) => {
  const bomb = gzipSync(Buffer.alloc(2_000_000));
  t.true(bomb.length < 10_000);
  const url = await serve(t, (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb));
  t.like(await t.throwsAsync(open(t).request(url)), { code: 'UPSTREAM_ERROR', reason: 'too_large' });
  t.is((await open(t).request(url, { maxBytes: 2_000_000 })).body.length, 2_000_000);
});

test('a body that cannot be decompressed, or is compressed twice, is refused', async (t) => {
  const url = await serve(t, (request, response) => {
    response.writeHead(200, { 'content-encoding': decodeURIComponent(request.url?.slice(1) ?? '') }).end('plain');
  });
  for (const coding of ['gzip', 'gzip,gzip', 'zip', 'constructor']) {
    t.like(await t.throwsAsync(open(t).request(`${url}/${coding}`)), { reason: 'decode' }, coding);
  }
});

test('the time-out covers the wait for the answer and the answer itself', async (t) => {
  const url = await serve(t, (request, response) => {
    if (request.url === '/slow') response.write('a');
  });
  for (const path of ['/silent', '/slow']) {
    const error = await t.throwsAsync(open(t).request(url + path, { timeoutMs: 100 }));
    t.like(error, { code: 'UPSTREAM_ERROR', reason: 'timeout' }, path);
  }
});

test('the time-out covers the look-up', async (t) => {
  const client = open(t, { ...local, lookup: () => undefined });
  t.like(await t.throwsAsync(client.request('http://a.example.com/', { timeoutMs: 100 })), { reason: 'timeout' });
});

test('the caller can give a request up', async (t) => {
  const giveUp = new AbortController();
  const url = await serve(t, () => giveUp.abort());
  t.like(await t.throwsAsync(open(t).request(url, { signal: giveUp.signal })), { reason: 'aborted' });
  t.like(await t.throwsAsync(open(t).request(url, { signal: AbortSignal.abort() })), { reason: 'aborted' });
});

test('a closed port and a connection that breaks are network failures', async (t) => {
  const url = `http://127.0.0.1:${await listen(
    t,
    createTcpServer((socket) => socket.destroy()),
  )}`;
  t.like(await t.throwsAsync(open(t).request(url)), { code: 'UPSTREAM_ERROR', reason: 'network' });
  const gone = createTcpServer();
  const port = await listen(t, gone);
  await new Promise((resolve) => gone.close(resolve));
  t.like(await t.throwsAsync(open(t).request(`http://127.0.0.1:${port}`)), { reason: 'network' });
});

test('https to a server that speaks plain http is a TLS failure', async (t) => {
  const url = await serve(t, (_request, response) => response.end());
  t.like(await t.throwsAsync(open(t).request(url.replace('http:', 'https:'))), { reason: 'tls' });
});

test('a certificate nobody vouches for is refused, after the right name was asked for', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'quartermaster-tls-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=tls.example.com', '-addext', 'subjectAltName=DNS:tls.example.com'];
  try {
    const args = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-keyout', key, '-out', cert];
    execFileSync('openssl', [...args, ...subject], { stdio: 'ignore' });
  } catch {
    return t.pass('Skipped: there is no openssl program to make a certificate with.');
  }
  const names: string[] = [];
  const options = {
    key: readFileSync(key),
    cert: readFileSync(cert),
    SNICallback: (name: string, callback: (error: Error | null) => void) => {
      names.push(name);
      callback(null);
    },
  };
  const port = await listen(
    t,
    createTlsServer(options, (_request, response) => response.end('secret')),
  );
  const client = open(t, { ...local, lookup: answering(['127.0.0.1']) });
  t.like(await t.throwsAsync(client.request(`https://tls.example.com:${port}/`)), { reason: 'tls' });
  t.deepEqual(names, ['tls.example.com']);
});

test('a large body goes to a sink piece by piece, an unsuccessful one stays with the answer', async (t) => {
  const piece = Buffer.alloc(65_536, 'x');
  const url = await serve(t, (request, response) => {
    if (request.url === '/no') response.writeHead(404).end('not here');
    else if (request.url === '/packed') response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'));
    else {
      for (let n = 0; n < 40; n += 1) response.write(piece);
      response.end();
    }
  });
  let taken = 0;
  const sink = (chunk: Uint8Array) => {
    taken += chunk.length;
  };
  const whole = await open(t).request(url, { sink, maxBytes: 40 * 65_536 });
  t.is(whole.body.length, 0);
  t.is(taken, 40 * 65_536);
  await t.throwsAsync(open(t).request(url, { sink, maxBytes: 65_536 }), { message: /too large/ });
  taken = 0;
  t.is((await open(t).request(`${url}/no`, { sink })).text(), 'not here');
  await t.throwsAsync(open(t).request(`${url}/packed`, { sink }), { code: 'UPSTREAM_ERROR' });
  t.is(taken, 0);
});
