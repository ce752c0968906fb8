/** Input that no schema need look at, and values that no table could hold. */
import test from 'ava';
import { AppError } from '../../errors.ts';
import { mustBeShapely, mustBeStorable } from '../payloads/input.ts';

function refusal(check: () => void): { path?: string; message?: string } | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'VALIDATION_ERROR') throw error;
    return error.details[0] as { path: string; message: string };
  }
}
const shape = (body: unknown) => refusal(() => mustBeShapely('payload', body));
const storable = (payload: unknown) => refusal(() => mustBeStorable({ params: {}, query: {}, payload }));

function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = { a: value };
  return value;
}

test('ordinary bodies pass, whatever kind they are', (t) => {
  for (const body of [null, undefined, 'text', 5, true, [], {}, { a: [{ b: [1, 'x', null] }] }, nested(49)]) {
    t.is(shape(body), null);
    t.is(storable(body), null);
  }
});

test('a body that is nested too deep is refused at any depth, and its place is told', (t) => {
  t.is(shape({ settings: nested(60) })?.path?.startsWith('settings.a.a'), true);
  t.truthy(shape(nested(500_000)));
  t.truthy(shape({ list: [nested(200_000)] }));
});

test('too many entries are refused where they are', (t) => {
  t.is(shape({ a: { list: Array(20_001).fill(1) } })?.path, 'a.list');
  t.is(shape(Object.fromEntries(Array.from({ length: 20_001 }, (_, n) => [n, n])))?.path, '');
  t.is(shape({ list: Array(20_000).fill(1) }), null);
});

test('text that the database cannot hold is refused as a value and as a name', (t) => {
  for (const bad of ['\0', 'a\0b', '\ud800', 'x\udc00', '\udc00\ud800']) {
    t.is(storable({ settings: { deep: ['fine', bad] } })?.path, 'settings.deep.1');
    t.truthy(storable({ settings: { [bad]: 1 } }));
  }
  for (const good of ['', '\u0001', '\ufffd', '💩', '\ud83d\udca9']) t.is(storable({ name: good, [good]: 1 }), null);
});

test('dates end with the year 9999 and begin with the year 1', (t) => {
  for (const bad of [
    '-000001-01-01T00:00:00Z',
    '-271821-04-20T00:00:00Z',
    '0000-12-31T23:59:59Z',
    '+010000-01-01T00:00:00Z',
  ]) {
    t.is(storable({ expiresAt: new Date(bad) })?.path, 'expiresAt', bad);
  }
  for (const good of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59Z']) t.is(storable({ at: new Date(good) }), null);
});

test('the place that is told stays short, however long the names are', (t) => {
  let value: unknown = '\0';
  for (let level = 0; level < 40; level++) value = { ['k'.repeat(10_000)]: value };
  t.true((storable(value)?.message ?? '').length < 2000);
});
