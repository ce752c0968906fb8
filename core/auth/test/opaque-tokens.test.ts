/** Random tokens and their hashes. */
import test from 'ava';
import {
  createMac,
  equalHash,
  newAgentToken,
  newApiKey,
  newEnrollmentKey,
  newOpaqueToken,
  pepperedHash,
  sha256Hex,
} from '../opaque-tokens.ts';

test('an API key has its documented form, and what is stored of it fits', (t) => {
  const { key, keyPrefix, keyHash } = newApiKey();
  t.regex(key, /^svc_[\w-]{32}$/);
  t.is(keyPrefix, key.slice(0, 12));
  t.is(keyHash, sha256Hex(key));
});

test('an enrollment key is 64 hex characters, an agent token those with the prefix', (t) => {
  t.regex(newEnrollmentKey(), /^[0-9a-f]{64}$/);
  t.regex(newAgentToken(), /^svc_[0-9a-f]{64}$/);
});

test('an opaque token carries 32 bytes unless told otherwise', (t) => {
  t.regex(newOpaqueToken('rt_'), /^rt_[\w-]{43}$/);
  t.regex(newOpaqueToken('', 8), /^[\w-]{11}$/);
});

test('no two tokens are the same', (t) => {
  for (const make of [() => newApiKey().key, newEnrollmentKey, newAgentToken, () => newOpaqueToken('')]) {
    t.is(new Set(Array.from({ length: 200 }, make)).size, 200);
  }
});

test('hashes are the published ones', (t) => {
  t.is(sha256Hex('abc'), 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  // RFC 4231, test case 2.
  const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843';
  t.is(pepperedHash('what do ya want for nothing?', 'Jefe'), expected);
});

test('another pepper gives another hash, and none is refused', (t) => {
  t.not(pepperedHash('key', 'one'), pepperedHash('key', 'two'));
  t.throws(() => pepperedHash('key', ''), { instanceOf: RangeError });
});

test('hashes are equal only when they are the same', (t) => {
  t.true(equalHash(sha256Hex('a'), sha256Hex('a')));
  t.false(equalHash(sha256Hex('a'), sha256Hex('b')));
  t.false(equalHash(sha256Hex('a'), sha256Hex('a').slice(1)));
  t.false(equalHash('', 'a'));
  t.false(equalHash('é', 'e'));
});

test('a mac is the same for the same text, and another for another purpose, text or secret', (t) => {
  const mac = createMac('secret');
  t.is(mac('codes', '123456'), createMac('secret')('codes', '123456'));
  t.regex(mac('codes', '123456'), /^[0-9a-f]{64}$/);
  const all = [mac('codes', '1'), mac('codes', '2'), mac('tokens', '1'), createMac('other')('codes', '1')];
  t.is(new Set(all).size, all.length);
});
