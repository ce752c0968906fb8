/** Values and patterns, without a database. */
import test from 'ava';
import type { FieldOptions, FieldType } from '../models/custom-field.ts';
import { isPattern, matches } from '../models/pattern.ts';
import { canonical } from '../services/canonical.ts';

const user = (type: FieldType, value: unknown, options: FieldOptions = {}) => {
  const found = canonical({ type, options }, value);
  return 'fault' in found ? found.fault : found.value;
};
const script = (type: FieldType, value: unknown, timeZone = 'UTC') => {
  const found = canonical({ type, options: {} }, value, { by: 'script', timeZone });
  return 'fault' in found ? found.fault : found.value;
};

test('each type has one canonical form and names what does not fit', (t) => {
  t.is(user('text', '  rack 4 '), 'rack 4');
  t.is(user('text', '   '), null);
  t.is(user('text', 'abc', { max: 2 }), 'TOO_LONG');
  t.is(user('text', 'x'.repeat(10_001)), 'TOO_LONG');
  t.is(user('text', 'AB-1', { pattern: '[A-Z]{2}-\\d+' }), 'AB-1');
  t.is(user('text', 'AB-x', { pattern: '[A-Z]{2}-\\d+' }), 'PATTERN');
  t.is(user('number', 4.5, { min: 4, max: 5 }), 4.5);
  t.is(user('number', 6, { max: 5 }), 'OUT_OF_RANGE');
  t.is(user('number', '4'), 'NOT_A_NUMBER');
  t.is(user('number', Number.NaN), 'NOT_A_NUMBER');
  t.is(user('boolean', false), false);
  t.is(user('boolean', 'yes'), 'NOT_A_BOOLEAN');
  t.is(user('dropdown', 'a', { choices: [{ value: 'a', label: 'A' }] }), 'a');
  t.is(user('dropdown', 'A', { choices: [{ value: 'a', label: 'A' }] }), 'NOT_A_CHOICE');
  t.is(user('date', '2028-02-29'), '2028-02-29');
  t.is(user('date', '2027-02-29'), 'NOT_A_DATE');
  t.is(user('date', '2027-13-01'), 'NOT_A_DATE');
  t.is(user('date', '2027-01-01', { min: '2027-01-02' }), 'OUT_OF_RANGE');
  t.is(user('date', '2027-01-01T10:00'), 'NOT_A_DATE');
});

test('scripts may send numbers and booleans as text, and a time counts as a date in its time zone', (t) => {
  t.is(script('number', ' 42 '), 42);
  t.is(script('number', ''), 'NOT_A_NUMBER');
  t.is(script('boolean', 'YES'), true);
  t.is(script('boolean', '0'), false);
  t.is(script('boolean', 'maybe'), 'NOT_A_BOOLEAN');
  t.is(script('date', '2027-01-01T23:30:00Z', 'Europe/Vienna'), '2027-01-02');
  t.is(script('date', '2027-01-01T23:30:00Z', 'UTC'), '2027-01-01');
});

test('a pattern has the meaning of a regular expression that covers the whole text', (t) => {
  const patterns = [
    'a+b*c?',
    '[a-c]{2,3}',
    '[^a]x',
    '\\d{4}-\\d{2}',
    'a.c',
    '\\w*\\.com',
    '[\\d_]+',
    'a{0,2}b',
    'é+',
    '(a|b)+x?',
    '^a$',
  ];
  const texts = [
    'a',
    'aab',
    'abc',
    'ab',
    'abcc',
    'bx',
    'ax',
    '2027-01',
    'a.c',
    'x.com',
    '.com',
    '1_2',
    'b',
    'aaab',
    'éé',
    '',
  ];
  for (const pattern of patterns) {
    t.true(isPattern(pattern), pattern);
    for (const text of texts)
      t.is(matches(pattern, text), new RegExp(`^(?:${pattern})$`, 'u').test(text), `${pattern} ${text}`);
  }
});

test('a pattern outside of RE2 syntax is rejected', (t) => {
  for (const pattern of ['(', '[', '[z-a]', 'a{3,2}', '\\', 'a{2000}', '(a{100}){100}', '(?=a)b', '(a)\\1', 'a**'])
    t.false(isPattern(pattern), pattern);
});

test('a hostile pattern is matched in linear time', (t) => {
  const started = process.hrtime.bigint();
  for (const pattern of [`${'a*'.repeat(50)}b`, '(a+)+b', '(a|aa)+b', '(.*)*b'])
    t.false(matches(pattern, 'a'.repeat(5000)));
  // A backtracking engine would need more steps than there are atoms in the universe.
  t.true(process.hrtime.bigint() - started < 5_000_000_000n);
});
