/** The canonical form: RFC 8785, held against its own examples and against another implementation. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import canonicalize from 'canonicalize';
import { fc } from '#test/properties';
import { canonicalJson } from '../canonical.ts';
import { checksumOf, type SealedRow } from '../chain.ts';
import { newEntryId } from '../ids.ts';

test('the example of RFC 8785, section 3.2.2, comes out as there', (t) => {
  const value = JSON.parse(
    String.raw`{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]}`,
  );
  t.is(
    canonicalJson(value),
    String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
  );
});

test('keys are ordered by their UTF-16 code units', (t) => {
  const value = { '\ufb33': 1, '😀': 2, '€': 3, ö: 4, '\u0080': 5, 1: 6, '\r': 7 };
  t.deepEqual(Object.values(JSON.parse(canonicalJson(value))).length, 7);
  t.regex(canonicalJson(value), /^\{"\\r":7,"1":6,"\u0080":5,"ö":4,"€":3,"😀":2,"\ufb33":1\}$/);
});

test('any JSON value gets the form that another implementation gives it', (t) => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      // What a text of JSON holds; jsonb and the outbox hold nothing else.
      const read = JSON.parse(
        JSON.stringify(value, (_, inner) => (typeof inner === 'string' ? inner.toWellFormed() : inner)),
      );
      return canonicalJson(read) === canonicalize(read);
    }),
    { numRuns: 500 },
  );
  t.throws(() => canonicalJson({ a: Number.NaN }), { instanceOf: TypeError });
  t.throws(() => canonicalJson('\ud800'), { instanceOf: TypeError });
  t.throws(() => canonicalJson([1n]), { instanceOf: TypeError });
});

test('the worked example in the README has the checksum given there', (t) => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const row = JSON.parse(/```json\n(\{.*?\})\n```/s.exec(text)?.[1] ?? '{}') as SealedRow;
  t.is(Object.keys(row).length, 21);
  const { checksum, ...covered } = row;
  t.is(checksumOf(covered), checksum);
});

test('ids are version 7 uuids in the order of time', (t) => {
  const ids = [1, 2, 1_700_000_000_000, 1_700_000_000_001].map(newEntryId);
  t.deepEqual(ids.toSorted(), ids);
  for (const id of ids) t.regex(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  t.is(new Set(Array.from({ length: 5000 }, () => newEntryId(1))).size, 5000);
});
