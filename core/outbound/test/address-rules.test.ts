/** Which URLs and addresses the outbound client refuses before it connects. */
import test from 'ava';
import {
  type Cidr,
  checkAddresses,
  checkUrl,
  isPublic,
  isWithin,
  parseCidrs,
  UrlBlockedError,
} from '../address-rules.ts';

const strict: { allowHttp: boolean; allowCidrs: Cidr[] } = { allowHttp: false, allowCidrs: [] };

function reasonOf(url: string, rules = strict): string {
  try {
    checkUrl(url, rules);
    return 'allowed';
  } catch (error) {
    return error instanceof UrlBlockedError ? error.reason : String(error);
  }
}

const publicAddresses = ['1.1.1.1', '93.184.215.14', '172.15.255.255', '172.32.0.0', '2606:4700::1111', '2a00:1450::5'];
for (const address of publicAddresses) {
  test(`${address} is public`, (t) => t.true(isPublic(address)));
}

const otherAddresses = {
  'this host': ['0.0.0.0', '0.1.2.3', '::'],
  loopback: ['127.0.0.1', '127.255.255.254', '::1'],
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1'],
  'link-local, where cloud metadata lives': ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1'],
  'carrier-grade NAT': ['100.64.0.1', '100.127.255.255'],
  'unique local': ['fc00::1', 'fd00:ec2::254'],
  'site-local': ['fec0::1'],
  multicast: ['224.0.0.1', '239.255.255.255', 'ff02::1'],
  broadcast: ['255.255.255.255'],
  'reserved or for documentation': [
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.1',
    '240.0.0.1',
    '2001:db8::1',
  ],
  'IPv4-mapped, public or not': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:1.1.1.1'],
  'IPv4-compatible': ['::127.0.0.1', '::7f00:1', '::a9fe:a9fe'],
  'IPv4-translated': ['::ffff:0:127.0.0.1'],
  '6to4': ['2002:7f00:1::', '2002:a9fe:a9fe::1'],
  Teredo: ['2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  NAT64: ['64:ff9b::7f00:1', '64:ff9b::10.0.0.1', '64:ff9b:1::a00:1'],
  'outside 2000::/3': ['100::1', '200::1', '4000::1', '5f00::1', 'e000::1'],
  'not an address': ['', 'localhost', '1.2.3', '0177.0.0.1', '2130706433', '0x7f000001', '1.2.3.4.5', ' 1.1.1.1'],
};
for (const [kind, addresses] of Object.entries(otherAddresses)) {
  test(`what is ${kind} is not public`, (t) => {
    for (const address of addresses) t.false(isPublic(address), address);
  });
}

const loopbackHosts = [
  '127.0.0.1',
  '127.1',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0177.0.0.1',
  '017700000001',
  '127.0.0.1.',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
];
for (const host of loopbackHosts) {
  test(`https://${host}/ is refused without a look-up`, (t) => t.is(reasonOf(`https://${host}/`), 'address'));
}

test('only https is called unless the instance allows http', (t) => {
  t.is(reasonOf('https://example.com/'), 'allowed');
  t.is(reasonOf('http://example.com/'), 'scheme');
  t.is(reasonOf('http://example.com/', { ...strict, allowHttp: true }), 'allowed');
  for (const url of ['ftp://example.com/', 'file:///etc/passwd', 'data:,x', 'javascript:1', 'gopher://example.com/']) {
    t.is(reasonOf(url, { ...strict, allowHttp: true }), 'scheme', url);
  }
});

test('a URL with credentials is refused', (t) => {
  t.is(reasonOf('https://user:secret@example.com/'), 'credentials');
  t.is(reasonOf('https://user@example.com/'), 'credentials');
  t.is(reasonOf('https://:secret@example.com/'), 'credentials');
});

test('what is not a URL is refused', (t) => {
  for (const text of ['', 'example.com', '//example.com', 'https://', 'https://exa mple.com/', 'https://1.2.3.4.5/']) {
    t.is(reasonOf(text), 'invalid', text);
  }
});

test('names are left to the look-up', (t) => {
  t.is(reasonOf('https://localhost/'), 'allowed');
  t.is(reasonOf('https://localhost./'), 'allowed');
});

test('one bad address among good ones refuses the name', (t) => {
  const found = [{ address: '93.184.215.14' }, { address: '10.0.0.1' }];
  t.throws(() => checkAddresses('example.com', found, []), { code: 'URL_BLOCKED' });
  t.notThrows(() => checkAddresses('example.com', found, parseCidrs(['10.0.0.0/8'])));
  t.throws(() => checkAddresses('example.com', [], []), { code: 'URL_BLOCKED' });
});

test('the refusal does not tell the address', (t) => {
  const error = t.throws(() => checkAddresses('intranet.example', [{ address: '10.9.8.7' }], []));
  t.false(error.message.includes('10.9.8.7'));
});

test('an allowed network holds its own addresses and no more', (t) => {
  const cidrs = parseCidrs(['10.1.0.0/16', ' fd00::/8 ']);
  t.true(isWithin('10.1.255.255', cidrs));
  t.true(isWithin('fd12::1', cidrs));
  for (const other of ['10.2.0.0', '127.0.0.1', 'fc00::1', '::ffff:10.1.0.1', 'nonsense']) {
    t.false(isWithin(other, cidrs), other);
  }
  t.is(reasonOf('https://10.1.2.3/', { ...strict, allowCidrs: cidrs }), 'allowed');
  t.is(reasonOf('https://[fd12::1]/', { ...strict, allowCidrs: cidrs }), 'allowed');
});

test('a network that cannot be read stops the start', (t) => {
  for (const text of ['10.0.0.0', '10.0.0.0/33', 'localhost/8', '']) {
    t.throws(() => parseCidrs([text]), { instanceOf: TypeError }, text);
  }
});
