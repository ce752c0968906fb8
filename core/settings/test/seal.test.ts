/** Sealed secrets open with their key, in their place, unchanged, and not otherwise. */
import test from 'ava';
import { createSealer } from '../seal.ts';

const place = { table: 'webhooks', column: 'secret', row: '42' };
const sealer = createSealer({ keys: [{ secret: 'first secret' }] });

test('what was sealed opens in its place', (t) => {
  for (const text of ['s3cret', '', 'ünï😀', 'x'.repeat(10_000)])
    t.is(sealer.open(sealer.seal(text, place), place), text);
});

test('a sealed value has the documented form and does not show its content', (t) => {
  const sealed = sealer.seal('visible', place);
  t.regex(sealed, /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+$/);
  t.false(Buffer.from(sealed.split('.')[3] ?? '', 'base64url').includes('visible'));
});

test('the same text never seals to the same value twice', (t) => {
  t.not(sealer.seal('a', place), sealer.seal('a', place));
});

test('a value moved to another table, column or row does not open', (t) => {
  const sealed = sealer.seal('s3cret', place);
  for (const change of [{ table: 'users' }, { column: 'other' }, { row: '43' }]) {
    t.throws(() => sealer.open(sealed, { ...place, ...change }), { code: 'SEAL_BROKEN' });
  }
});

test('the parts of a place cannot be shifted into each other', (t) => {
  const sealed = sealer.seal('s3cret', { table: 'a', column: 'b","c', row: 'd' });
  t.throws(() => sealer.open(sealed, { table: 'a","b', column: 'c', row: 'd' }), { code: 'SEAL_BROKEN' });
});

test('a value changed anywhere does not open', (t) => {
  const sealed = sealer.seal('s3cret', place);
  for (let i = 0; i < sealed.length; i++) {
    const bytes = sealed[i] === 'A' ? 'Q' : 'A';
    const changed = sealed.slice(0, i) + bytes + sealed.slice(i + 1);
    // The last character of a group may carry bits that mean nothing.
    const opened = (() => {
      try {
        return sealer.open(changed, place);
      } catch (error) {
        return (error as { code?: string }).code;
      }
    })();
    if (i !== sealed.length - 1) t.is(opened, 'SEAL_BROKEN', `character ${i}`);
  }
  for (const broken of ['', 'v1', 's3cret', sealed.slice(0, -8), `${sealed}AAAA`, sealed.replace('v1', 'v2')]) {
    t.throws(() => sealer.open(broken, place), { code: 'SEAL_BROKEN' }, broken);
  }
});

test('a value sealed with another secret does not open', (t) => {
  const other = createSealer({ keys: [{ id: 'k', secret: 'other' }] });
  const same = createSealer({ keys: [{ id: 'k', secret: 'different' }] });
  t.throws(() => sealer.open(other.seal('a', place), place), { code: 'SEAL_BROKEN', message: /not configured/ });
  t.throws(() => same.open(other.seal('a', place), place), { code: 'SEAL_BROKEN' });
});

test('after a key change old values open, new ones use the new key, and old ones ask to be resealed', (t) => {
  const old = sealer.seal('a', place);
  const both = createSealer({ keys: [{ id: 'next', secret: 'second secret' }, { secret: 'first secret' }] });
  t.is(both.open(old, place), 'a');
  t.true(both.needsReseal(old));
  const fresh = both.seal('b', place);
  t.true(fresh.startsWith('v1.next.'));
  t.false(both.needsReseal(fresh));
});

test('a sealer without a usable key is refused', (t) => {
  t.throws(() => createSealer({ keys: [] }), { code: 'SEAL_BROKEN' });
  t.throws(() => createSealer({ keys: [{ secret: '' }] }), { code: 'SEAL_BROKEN' });
  t.throws(() => createSealer({ keys: [{ id: 'a.b', secret: 'x' }] }), { code: 'SEAL_BROKEN' });
  t.throws(() => createSealer({ keys: [{ secret: 'x' }, { secret: 'x' }] }), { code: 'SEAL_BROKEN' });
});
