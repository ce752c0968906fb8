/** Invalid condition trees: 400 with the path of every fault, before any SQL is built. */
import test from 'ava';
import { tenant } from '#test';
import { patternFault } from '../operators/patterns.ts';
import { all, any, platform, previewed, where } from './people.ts';

const { orgAdmin } = await tenant(platform);
test.after.always(() => platform.stop());

interface Fault {
  path: string;
  code: string;
}
async function faults(conditions: unknown): Promise<Fault[]> {
  const { status, body } = await previewed(orgAdmin.token, conditions);
  if (status !== 400) throw new Error(`answered ${status}`);
  return body.error.details as unknown as Fault[];
}
const one = async (field: string, operator: string, value?: unknown) => {
  const [fault] = await faults(all(where('osType', 'equals', 'linux'), any(where(field, operator, value))));
  return `${fault?.code} ${fault?.path.replace('conditions.conditions.1.conditions.0', '@')}`;
};

test('a fault has its path in the tree', async (t) => {
  t.is(await one('hostnam', 'equals', 'x'), 'UNKNOWN_FIELD @.field');
  t.is(await one('Hostname', 'equals', 'x'), 'UNKNOWN_FIELD @.field');
  t.is(await one('__proto__', 'equals', 'x'), 'UNKNOWN_FIELD @.field');
  t.is(await one('custom.nothing', 'equals', 'x'), 'UNKNOWN_FIELD @.field');
  t.is(await one('hostname', 'like', 'x'), 'UNKNOWN_OPERATOR @.operator');
  t.is(await one('hostname', 'greaterThan', 'x'), 'WRONG_OPERATOR @.operator');
  t.is(await one('software.notInstalled', 'notContains', 'x'), 'WRONG_OPERATOR @.operator');
  t.is(await one('hostname', 'equals', 5), 'BAD_VALUE @.value');
  t.is(await one('hostname', 'equals', null), 'BAD_VALUE @.value');
  t.is(await one('hostname', 'equals'), 'BAD_VALUE @.value');
  t.is(await one('hostname', 'contains', ''), 'BAD_VALUE @.value');
  // Rejected in every body, before the condition is checked.
  t.regex(await one('hostname', 'contains', 'a\0b'), /@\.value$/);
  t.regex(await one('hostname', 'contains', '\ud800'), /@\.value$/);
  t.is(await one('hostname', 'isNull', 'x'), 'BAD_VALUE @.value');
  t.is(await one('hostname', 'in', 'x'), 'BAD_VALUE @.value');
  t.is(await one('hostname', 'in', ['x', 5]), 'BAD_VALUE @.value.1');
  t.is(await one('hostname', 'in', []), 'BAD_VALUE @.value');
  t.is(await one('status', 'equals', 'active'), 'BAD_VALUE @.value');
  t.is(await one('osType', 'in', ['linux', 'beos']), 'BAD_VALUE @.value.1');
  t.is(await one('orgId', 'equals', 'x'), 'BAD_VALUE @.value');
  t.is(await one('hardware.cpuCores', 'equals', '4'), 'BAD_VALUE @.value');
  t.is(await one('hardware.cpuCores', 'between', { from: 1 }), 'BAD_VALUE @.value.to');
  t.is(await one('hardware.cpuCores', 'between', { from: 2, to: 1 }), 'BAD_VALUE @.value.from');
  t.is(await one('hardware.cpuCores', 'between', { from: 1, to: 2, step: 1 }), 'BAD_VALUE @.value.step');
  t.is(await one('tags', 'hasAny', ['  ']), 'BAD_VALUE @.value.0');
});

test('invalid dates, and spans of time without an end, are errors', async (t) => {
  for (const date of [
    'yesterday',
    '2026-02-30',
    '2026-13-01',
    '2026-1-1',
    '2026-01-01T25:00:00Z',
    '9999-01-01',
    '',
    '1',
  ]) {
    t.is(await one('enrolledAt', 'before', date), 'BAD_DATE @.value', date);
  }
  t.is(await one('enrolledAt', 'before', 1_767_225_600), 'BAD_DATE @.value');
  t.is(await one('enrolledAt', 'between', { from: '2026-01-01', to: 'x' }), 'BAD_DATE @.value.to');
  t.is(await one('enrolledAt', 'between', { from: '2026-01-02', to: '2026-01-01' }), 'BAD_DATE @.value.from');
  const last = (amount: unknown, unit: unknown) => one('lastSeenAt', 'withinLast', { amount, unit });
  t.is(await last(1, 'years'), 'BAD_VALUE @.value.unit');
  t.is(await last('1', 'days'), 'BAD_VALUE @.value.amount');
  t.is(await last(0, 'days'), 'BAD_VALUE @.value.amount');
  t.is(await last(1.5, 'months'), 'BAD_VALUE @.value.amount');
  t.is(await last(1e9, 'weeks'), 'BAD_VALUE @.value.amount');
  t.is(await one('lastSeenAt', 'withinLast', { amount: 1 }), 'BAD_VALUE @.value.unit');
});

test('unsupported, nested unlimited and long regular expressions are errors', async (t) => {
  for (const pattern of [
    '(',
    'a)',
    '[a',
    'x\\',
    '*a',
    'a**',
    '(?=a)',
    '(?i)a',
    '\\bfoo',
    '\\1',
    '[[:alpha:]]',
    'a{2,1}',
  ]) {
    t.is(await one('hostname', 'matches', pattern), 'BAD_PATTERN @.value', pattern);
  }
  for (const pattern of ['(a+)+$', '(a*)*', '(\\w+\\s?)*', '(a{1,3})*', '(a?b?){0,200}c', '((a{99}){99}){99}']) {
    t.is(await one('hostname', 'matches', pattern), 'BAD_PATTERN @.value', pattern);
  }
  t.is(await one('hostname', 'matches', 'a'.repeat(201)), 'BAD_PATTERN @.value');
  for (const pattern of [
    'a'.repeat(200),
    '^srv(-\\d+)?$',
    '^(\\d{1,3}\\.){3}\\d{1,3}$',
    '(web|db)\\d*',
    '[^a-z]',
    '',
  ]) {
    t.is(patternFault(pattern), null, pattern);
  }
});

test('depth, number of conditions and number of values are limited', async (t) => {
  const leaf = where('hostname', 'contains', 'x');
  const nest = (levels: number): unknown => (levels === 0 ? leaf : all(nest(levels - 1)));
  t.is((await previewed(orgAdmin.token, nest(10))).status, 200);
  t.like((await faults(nest(11)))[0], { code: 'TOO_DEEP', path: `conditions${'.conditions.0'.repeat(10)}` });
  // Far deeper than any stack.
  const deep = `{"operator":"AND","conditions":[`.repeat(8000);
  const body = `{"conditions":${deep}{"field":"hostname","operator":"isNull"}${']}'.repeat(8000)}}`;
  const answer = await platform.call('POST', '/filters/preview', { token: orgAdmin.token, body });
  t.is(answer.status, 400);

  t.is((await previewed(orgAdmin.token, any(...Array(100).fill(leaf)))).status, 200);
  t.like((await faults(any(...Array(101).fill(leaf))))[0], { path: 'conditions.conditions' });
  t.like((await faults(all(any(...Array(101).fill(leaf)))))[0], {
    code: 'TOO_MANY',
    path: 'conditions.conditions.0.conditions.100',
  });
  t.like((await faults(any(...Array(60).fill(leaf), any(...Array(60).fill(leaf)))))[0], {
    code: 'TOO_MANY',
    path: 'conditions.conditions.60.conditions.40',
  });
  const values = (count: number) => Array.from({ length: count }, (_, n) => `v${n}`);
  t.is((await previewed(orgAdmin.token, all(where('hostname', 'in', values(500))))).status, 200);
  t.is(await one('hostname', 'in', values(501)), 'TOO_MANY @.value');
  t.is(await one('tags', 'hasAny', values(501)), 'TOO_MANY @.value');
  t.is(await one('hostname', 'equals', 'x'.repeat(1001)), 'TOO_LONG @.value');
});

test('a body that is no tree is an error, and all faults are reported at once', async (t) => {
  t.like((await faults({ field: 'hostname', operator: 'isNull' }))[0], { path: 'conditions.operator' });
  t.like((await faults(all()))[0], { path: 'conditions.conditions' });
  t.like((await faults(all(all())))[0], { code: 'BAD_SHAPE', path: 'conditions.conditions.0.conditions' });
  t.like((await faults({ operator: 'XOR', conditions: [where('hostname', 'isNull')] }))[0], {
    path: 'conditions.operator',
  });
  t.like((await faults(all({ operator: 'NOT', conditions: [where('hostname', 'isNull')] })))[0], {
    path: 'conditions.conditions.0.operator',
  });
  t.like((await faults(all({ ...where('hostname', 'isNull'), negate: true })))[0], {
    path: 'conditions.conditions.0.negate',
  });
  const found = await faults(
    any(where('x', 'equals', 1), where('hostname', 'matches', '('), where('osType', 'in', [])),
  );
  t.deepEqual(
    found.map(({ path, code }) => `${code} ${path}`),
    [
      'UNKNOWN_FIELD conditions.conditions.0.field',
      'BAD_PATTERN conditions.conditions.1.value',
      'BAD_VALUE conditions.conditions.2.value',
    ],
  );
});
