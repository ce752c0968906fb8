/** The caller's address behind proxies, and who may read /metrics. */
import { request } from 'node:http';
import test from 'ava';
import { readConfig } from '#config';
import { sharedPlatform } from '#test';
import { ClientAddresses } from '../client-address.ts';
import { mayReadMetrics } from '../metrics/access.ts';

const platform = await sharedPlatform();

const addresses = (env: Record<string, string>) =>
  new ClientAddresses(readConfig({ TRUST_PROXY_HEADERS: 'true', ...env }).http.proxies);
const PEER = '10.0.0.2';

test('the entry that the outermost trusted proxy wrote counts, whatever the caller wrote before it', (t) => {
  const cases: [Record<string, string>, Record<string, string>, string][] = [
    [{}, {}, PEER],
    [{}, { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1'],
    [{}, { 'x-forwarded-for': '6.6.6.6, 198.51.100.1' }, '198.51.100.1'],
    [{}, { 'x-forwarded-for': '198.51.100.1', 'cf-connecting-ip': '6.6.6.6', 'x-real-ip': '6.6.6.7' }, '198.51.100.1'],
    [{ TRUSTED_PROXIES: '2' }, { 'x-forwarded-for': '6.6.6.6, 198.51.100.1, 10.0.0.1' }, '198.51.100.1'],
    [{ TRUSTED_PROXIES: '2' }, { 'x-forwarded-for': '198.51.100.1' }, '198.51.100.1'],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, { 'x-forwarded-for': '6.6.6.6, 198.51.100.1, 10.0.0.1' }, '198.51.100.1'],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, { 'x-forwarded-for': '10.1.1.1, 10.0.0.1' }, '10.1.1.1'],
    // Called past the proxy.
    [{ TRUSTED_PROXIES: '10.0.0.1' }, { 'x-forwarded-for': '6.6.6.6' }, PEER],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, { 'x-forwarded-for': '6.6.6.6, unknown' }, PEER],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, { 'x-forwarded-for': '198.51.100.1:4711' }, '198.51.100.1'],
    [{ TRUSTED_PROXIES: '10.0.0.0/8' }, { 'x-forwarded-for': '[2001:db8::1]:4711' }, '2001:db8::1'],
    [{ TRUSTED_PROXY_HEADER: 'CF-Connecting-IP' }, { 'cf-connecting-ip': '::ffff:198.51.100.1' }, '198.51.100.1'],
    [{ TRUSTED_PROXY_HEADER: 'cf-connecting-ip' }, { 'x-forwarded-for': '6.6.6.6' }, PEER],
    [{ TRUST_PROXY_HEADERS: 'false' }, { 'x-forwarded-for': '6.6.6.6' }, PEER],
  ];
  for (const [env, headers, expected] of cases) {
    t.is(addresses(env).of(headers, PEER), expected, JSON.stringify([env, headers]));
  }
  t.is(
    addresses({ TRUSTED_PROXIES: '10.0.0.0/8' }).of({ 'x-forwarded-for': '198.51.100.1' }, '::ffff:10.0.0.2'),
    '198.51.100.1',
  );
});

test('a number of proxies and networks are refused together, and so is what is neither', (t) => {
  const read = (TRUSTED_PROXIES: string) => () => readConfig({ TRUSTED_PROXIES });
  t.throws(read('1,10.0.0.0/8'), { message: /TRUSTED_PROXIES: a number of proxies stands alone/ });
  for (const text of ['0', '10', 'proxy.example.com', '10.0.0.0/33']) {
    t.throws(read(text), { message: /TRUSTED_PROXIES: entry 1 must be a number from 1 to 9/ }, text);
  }
});

const scrape = (headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(`${platform.url}/metrics`, { headers }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    })
      .on('error', reject)
      .end();
  });

test('without a token /metrics answers this machine, and no request that came through a proxy', async (t) => {
  t.is(await scrape({}), 200);
  t.is(await scrape({ host: 'localhost:3000' }), 200);
  for (const name of ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via', 'cf-connecting-ip', 'x-forwarded-proto']) {
    t.is(await scrape({ [name]: '127.0.0.1' }), 403, name);
  }
  t.is(await scrape({ host: 'rmm.example.com' }), 403);
  const at = { headers: { host: 'localhost' }, address: '127.0.0.1' };
  t.false(mayReadMetrics(undefined, { ...at, isProxy: addresses({}).isProxy('127.0.0.1') }));
  const given = { ...at.headers, authorization: 'Bearer secret', 'x-forwarded-for': '198.51.100.1' };
  t.true(mayReadMetrics('secret', { headers: given, address: '10.0.0.2', isProxy: true }));
  t.false(mayReadMetrics('other', { headers: given, address: '127.0.0.1', isProxy: false }));
});
