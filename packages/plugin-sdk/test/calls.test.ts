/** Judging what a plugin asks and says: the checks that server and test kit share. */
import test from 'ava';
import {
  CAPABILITIES,
  capabilityForEvent,
  checkResult,
  egressFault,
  HOST_METHODS,
  HostError,
  isPluginMessage,
  mustAllow,
  parseMessage,
  readHead,
} from '../src/host.ts';

const grant = (...granted: string[]) => ({
  granted: new Set(granted),
  manifest: { egress: ['api.example.com', '*.desk.example', { fromConfig: 'baseUrl' }] },
  config: { baseUrl: 'https://own.example:8443/path' },
});
const refusal = (run: () => unknown): string => {
  try {
    run();
    return 'allowed';
  } catch (error) {
    return error instanceof HostError ? error.code : String(error);
  }
};

test('each method of the host API needs exactly its capability', (t) => {
  for (const [name, { capability }] of Object.entries(HOST_METHODS)) {
    const without = refusal(() =>
      mustAllow(name, null, grant(...Object.keys(CAPABILITIES).filter((one) => one !== capability))),
    );
    t.is(without, capability ? 'PERMISSION_DENIED' : 'INVALID_PARAMS', name);
    if (capability)
      t.is(
        refusal(() => mustAllow(name, null, grant(capability))),
        'INVALID_PARAMS',
        name,
      );
  }
});

test('what is unknown, malformed or too large is refused', (t) => {
  t.is(
    refusal(() => mustAllow('fs.read', {}, grant())),
    'UNKNOWN_METHOD',
  );
  t.is(
    refusal(() => mustAllow('toString', {}, grant())),
    'UNKNOWN_METHOD',
  );
  t.is(
    refusal(() => mustAllow('kv.set', { key: 'a', value: 1, more: 2 }, grant('kv'))),
    'INVALID_PARAMS',
  );
  t.is(
    refusal(() => mustAllow('kv.set', { key: 'a', value: 'x'.repeat(70_000) }, grant('kv'))),
    'TOO_LARGE',
  );
  t.is(
    refusal(() => mustAllow('kv.set', { key: 'a', value: { b: [1] } }, grant('kv'))),
    'allowed',
  );
});

test('only declared servers are called', (t) => {
  const { manifest, config } = grant();
  const fault = (url: string) => egressFault(url, manifest.egress, config);
  for (const url of ['https://api.example.com/x', 'https://a.b.desk.example/', 'https://own.example:8443/other']) {
    t.is(fault(url), null, url);
  }
  for (const url of [
    'https://example.com/',
    'https://api.example.com.evil.example/',
    'https://api.example.com:444/',
    'https://desk.example/',
    'https://evildesk.example/',
    'https://own.example/',
    'https://user:pw@api.example.com/',
    'http://169.254.169.254/latest/meta-data',
    'file:///etc/passwd',
    'nonsense',
  ]) {
    t.truthy(fault(url), url);
  }
  t.is(
    refusal(() => mustAllow('http.fetch', { url: 'https://evil.example/' }, grant('http'))),
    'EGRESS_DENIED',
  );
});

test('events take the capability of what they are about', (t) => {
  t.is(capabilityForEvent('device.online'), 'devices:read');
  t.is(capabilityForEvent('software.installed'), 'devices:read');
  t.is(capabilityForEvent('alert.triggered'), 'alerts:read');
  t.is(capabilityForEvent('plugin.event'), null);
  t.is(capabilityForEvent('constructor.x'), 'devices:read');
});

test('messages are parsed without prototypes, and held to their schema', (t) => {
  for (const text of ['[', `${'['.repeat(50)}${']'.repeat(50)}`, `[${'1,'.repeat(200_000)}1]`]) {
    t.throws(() => parseMessage(text), { instanceOf: SyntaxError }, text.slice(0, 50));
  }
  t.deepEqual(parseMessage('{"a":[{"__proto__":{"b":1},"c":",[{"}],"constructor":{"prototype":{"d":1}}}'), {
    value: { a: [{ c: ',[{' }] },
    dropped: ['constructor', '__proto__'],
  });
  const honest = { constructor: 'Miller & Sons', prototype: 1 };
  t.deepEqual(parseMessage(JSON.stringify(honest)), { value: honest, dropped: [] });
  t.deepEqual(readHead('{"id":"c1","method":"kv.get","token":"t","params":{}}'), {
    id: 'c1',
    method: 'kv.get',
    token: 't',
  });
  t.deepEqual(readHead('{"id":"h1","token":"t","result":1}'), { id: 'h1', method: null, token: 't' });
  t.is(readHead('{"token":"t","id":"h1","result":1}'), null);
  t.true(isPluginMessage({ id: '1', method: 'kv.get', token: 't', params: {} }));
  t.true(isPluginMessage({ id: '1', token: 't', result: null }));
  t.true(isPluginMessage({ id: '1', token: 't', error: { code: 'X', message: 'y' } }));
  for (const message of [
    {},
    { id: '1' },
    { id: '1', result: 1 },
    { id: 1, token: 't', result: 1 },
    { id: '1', token: 't', result: 1, more: 1 },
    null,
    'x',
  ]) {
    t.false(isPluginMessage(message), JSON.stringify(message));
  }
});

test('results of providers are held to the schema of their kind', (t) => {
  t.deepEqual(checkResult('notificationChannel', 'send', { delivered: true, reference: 'x' }), []);
  t.is(checkResult('notificationChannel', 'send', { delivered: 'yes' })[0]?.path, 'delivered');
  t.is(checkResult('collector', 'collect', { values: [{ deviceId: 'x', fields: {} }] })[0]?.path, 'values.0.deviceId');
  t.is(checkResult('aiTool', 'explode', {}).length, 1);
});
