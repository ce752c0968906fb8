/** Prism between a client and the server finds nothing wrong with any GET, and would: it notices each answer that lies. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test from 'ava';
import { openReads, type Read, type Reads } from '../contract/fixtures/reads.ts';
import { type DocumentProxy, startDocumentProxy, throughProxy } from '../kit/document-proxy.ts';

interface Document {
  paths: Record<string, { get: { parameters: { name?: string; description?: string }[] } }>;
}

let installation = {} as Reads;
let proxy = {} as DocumentProxy;
test.before(async (t) => {
  t.timeout(900_000);
  installation = await openReads();
  proxy = await startDocumentProxy();
});
test.after.always(async () => {
  await proxy.stop?.();
  await installation.stop?.();
});

/** Streams have no end, and Prism waits for it; it also follows where a 302 leads. */
const LEFT_OUT = ['/audit-logs/stream', '/events', '/sso/callback', '/sso/login/{orgId}'];
const reads = () => installation.reads.filter(({ template }) => !LEFT_OUT.includes(template));

function ask(base: string, { template, path, query, headers }: Read): Promise<Response> {
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const search = Object.keys(query).length > 0 ? `?${new URLSearchParams(query)}` : '';
  const at = throughProxy(proxy.url, base, filled + search);
  return fetch(at.url, { headers: { ...headers, ...at.headers } }).catch((error) => {
    throw new Error(`${template}: ${error}; ${proxy.violations().at(-1)}`);
  });
}

test.serial('no request and no answer violates the document', async (t) => {
  t.timeout(600_000);
  const differ: string[] = [];
  for (const read of reads()) {
    const response = await ask(installation.platform.url, read);
    await response.arrayBuffer();
    if (response.status !== read.status) differ.push(`${read.template}: ${response.status}`);
  }
  t.deepEqual(proxy.violations(), []);
  t.deepEqual(differ, []);
});

test.serial('with fields the answers of lists hold against the document too', async (t) => {
  t.timeout(600_000);
  const { body } = await installation.platform.call<Document>('GET', '/openapi.json');
  let asked = 0;
  const before = proxy.violations().length;
  for (const read of reads()) {
    const fields = body.paths[read.template]?.get.parameters.find(({ name }) => name === 'fields');
    const [, last] = /, (\w+)$/.exec(fields?.description ?? '') ?? [];
    if (!last || read.status !== 200) continue;
    const response = await ask(installation.platform.url, { ...read, query: { ...read.query, fields: last } });
    await response.arrayBuffer();
    t.is(response.status, 200, read.template);
    asked += 1;
  }
  t.true(asked > 20);
  t.deepEqual(proxy.violations().slice(before), []);
});

test.serial('an answer that is not what the document says is a violation, for every GET', async (t) => {
  t.timeout(600_000);
  const liar = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"wrong":true}');
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => liar.once('listening', resolve));
  t.teardown(() => liar.close());
  for (const read of reads()) {
    const before = proxy.violations().length;
    const response = await ask(`http://127.0.0.1:${(liar.address() as AddressInfo).port}`, read);
    await response.arrayBuffer();
    t.is(proxy.violations().length, before + 1, read.template);
  }
});

test.serial('a server that goes away is no violation, and the caller sees the connection break', async (t) => {
  const before = proxy.violations().length;
  const [read] = reads();
  await t.throwsAsync(ask('http://127.0.0.1:9', read as Read));
  const dying = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write('{"half":', () => response.destroy());
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => dying.once('listening', resolve));
  t.teardown(() => dying.close());
  await t.throwsAsync(ask(`http://127.0.0.1:${(dying.address() as AddressInfo).port}`, read as Read));
  t.is(proxy.violations().length, before);
});
