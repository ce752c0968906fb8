/** How the outbound client follows redirects, where it does. */
import test from 'ava';
import { open, serve } from './local-server.ts';

test('a redirect is an answer unless following was asked for', async (t) => {
  const url = await serve(t, (_request, response) => response.writeHead(302, { location: '/next' }).end());
  const answer = await open(t).request(url);
  t.is(answer.status, 302);
  t.is(answer.headers.location, '/next');
});

test('at most as many redirects are followed as asked for, and never more than three', async (t) => {
  const url = await serve(t, (request, response) => {
    const left = Number(request.url?.slice(1));
    if (left === 0) return response.end('there');
    response.writeHead(307, { location: `/${left - 1}` }).end();
  });
  const client = open(t);
  t.is((await client.request(`${url}/3`, { maxRedirects: 3 })).text(), 'there');
  t.like(await t.throwsAsync(client.request(`${url}/4`, { maxRedirects: 3 })), { reason: 'redirect' });
  t.like(await t.throwsAsync(client.request(`${url}/2`, { maxRedirects: 1 })), { reason: 'redirect' });
  await t.throwsAsync(client.request(url, { maxRedirects: 4 }), { instanceOf: RangeError });
});

test('every hop of a redirect is checked like the first', async (t) => {
  let target = '';
  const url = await serve(t, (_request, response) => response.writeHead(302, { location: target }).end());
  const client = open(t);
  for (target of ['http://169.254.169.254/latest', 'http://[::1]/', 'ftp://example.com/', 'http://a:b@127.0.0.1/']) {
    await t.throwsAsync(client.request(url, { maxRedirects: 1 }), { code: 'URL_BLOCKED' }, target);
  }
});

test('what authorises a request stays with its origin when redirected', async (t) => {
  const other = await serve(t, (request, response) => response.end(JSON.stringify(request.headers)));
  const url = await serve(t, (request, response) => {
    if (request.url === '/same') return response.end(JSON.stringify(request.headers));
    response.writeHead(302, { location: request.url === '/near' ? '/same' : `${other}/` }).end();
  });
  const headers = { Authorization: 'Bearer a', Cookie: 'b=c', 'X-Api-Key': 'd', Accept: 'application/json' };
  const client = open(t);
  const near = (await client.request(`${url}/near`, { headers, maxRedirects: 1 })).json() as Record<string, string>;
  t.like(near, { authorization: 'Bearer a', cookie: 'b=c', 'x-api-key': 'd' });
  const far = (await client.request(`${url}/far`, { headers, maxRedirects: 1 })).json() as Record<string, string>;
  t.is(far.accept, 'application/json');
  for (const name of ['authorization', 'cookie', 'x-api-key']) t.false(name in far, name);
});

test('a redirected POST becomes a GET after 302 and 303 and keeps its body after 307', async (t) => {
  const url = await serve(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const status = Number(request.url?.slice(1));
    if (status > 0) return response.writeHead(status, { location: '/' }).end();
    response.end(`${request.method} ${request.headers['content-type']} ${Buffer.concat(chunks)}`);
  });
  const post = { method: 'POST', body: 'x', headers: { 'content-type': 'text/plain' }, maxRedirects: 1 };
  const client = open(t);
  t.is((await client.request(`${url}/302`, post)).text(), 'GET undefined ');
  t.is((await client.request(`${url}/303`, post)).text(), 'GET undefined ');
  t.is((await client.request(`${url}/307`, post)).text(), 'POST text/plain x');
});

test('a body is not carried to another origin', async (t) => {
  let reached = 0;
  const other = await serve(t, (_request, response) => response.end(String(++reached)));
  const url = await serve(t, (_request, response) => response.writeHead(308, { location: other }).end());
  const error = await t.throwsAsync(open(t).request(url, { method: 'POST', body: 'secret', maxRedirects: 1 }));
  t.like(error, { code: 'UPSTREAM_ERROR', reason: 'redirect' });
  t.is(reached, 0);
});
