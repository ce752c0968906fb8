/** The api for other modules: conditions for statements of their own, and the ids that match. */
import test from 'ava';
import { type Context, EVERYWHERE, NOBODY, NOWHERE } from '#core';
import { runUnitOfWork } from '#core/work';
import { type Tenant, tenant } from '#test';
import { fc } from '#test/properties';
import { patternFault } from '../operators/patterns.ts';
import { all, any, devices, platform, where } from './people.ts';

test.after.always(() => platform.stop());
const { work, log } = platform.platform.tasks;

/** Runs as a job of a tenant: limited to its organization, under row-level security. */
const asOrg = <T>({ orgId, partnerId }: Tenant, run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(
    work,
    {
      actor: NOBODY,
      scope: { ...NOWHERE, kind: 'organization', orgId, orgIds: [orgId], ownerPartnerId: partnerId },
      requestId: 'test',
      log,
      role: 'app',
    },
    run,
  );
const asPlatform = <T>(run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(work, { actor: NOBODY, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);

test('compiled conditions become part of a statement with parameters of its own', async (t) => {
  const place = await tenant(platform);
  const [id] = await devices(place, 'web-1', 'db-1');
  await asOrg(place, async (ctx) => {
    const filters = ctx.use('filters');
    const compiled = await filters.compile(
      any(where('hostname', 'startsWith', 'web'), where('metrics.cpuPercent', 'greaterThan', 99)),
      { orgIds: [place.orgId], first: 2 },
    );
    t.like(compiled, {
      fields: ['hostname', 'metrics.cpuPercent'],
      timeRelative: false,
      volatile: true,
      limit: null,
    });
    const from = compiled.joins.map((join) => join.sql).join(' ');
    const { rows } = await filters.limited(compiled, () =>
      ctx.sql<{ id: string }>(`select d.id from devices d ${from} where d.org_id = $1 and (${compiled.where})`, [
        place.orgId,
        ...compiled.params,
      ]),
    );
    t.deepEqual(rows, [{ id }]);
  });
});

test('a compiled tree has its properties: clock, heartbeats, removed devices, and time limit', async (t) => {
  const place = await tenant(platform);
  await asOrg(place, async (ctx) => {
    const about = async (...conditions: unknown[]) => {
      const { timeRelative, volatile, removed, limit } = await ctx.use('filters').compile(all(...conditions));
      return [timeRelative, volatile, removed, limit];
    };
    t.deepEqual(await about(where('osType', 'equals', 'linux')), [false, false, false, null]);
    t.deepEqual(await about(where('enrolledAt', 'withinLast', { amount: 1, unit: 'days' })), [
      true,
      false,
      false,
      null,
    ]);
    t.deepEqual(await about(where('daysSinceEnrolled', 'greaterThan', 1)), [true, false, false, null]);
    t.deepEqual(await about(where('lastSeenAt', 'isNull')), [false, true, false, null]);
    t.deepEqual(await about(where('status', 'notIn', ['decommissioned'])), [true, true, false, null]);
    t.deepEqual(await about(where('status', 'in', ['decommissioned'])), [true, true, true, null]);
    t.deepEqual((await about(...Array(11).fill(where('osType', 'equals', 'linux'))))[3], 10_000);
    t.deepEqual(await about(any(where('hostname', 'matches', 'x'))), [false, false, false, 2000]);
  });
});

test('matching returns the active devices, of one organization or of a few given ones', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  const [one = '', two = '', waiting] = await devices(mine, 'a-1', 'a-2', 'a-3', 'b-1');
  const [foreign = ''] = await devices(theirs, 'a-4');
  await platform.sql(`update devices set lifecycle = 'quarantined' where id = $1`, [waiting]);
  const conditions = all(where('hostname', 'startsWith', 'a-'));
  await asOrg(mine, async (ctx) => {
    const { matching } = ctx.use('filters');
    t.deepEqual(await matching(conditions), [one, two].sort());
    t.deepEqual(await matching(conditions, { deviceIds: [two, foreign] }), [two]);
    t.deepEqual(await matching(conditions, { orgId: theirs.orgId }), []);
    await t.throwsAsync(matching(all(where('x', 'isNull'))), { message: /unknown field/ });
  });
  await asPlatform(async (ctx) => {
    const { matching } = ctx.use('filters');
    t.deepEqual(await matching(conditions, { orgId: theirs.orgId }), [foreign]);
    t.deepEqual(await matching(all(where('software.installed', 'contains', 'none')), { orgId: mine.orgId }), []);
  });
});

test('after conditions that took too long the same transaction goes on', async (t) => {
  const place = await tenant(platform);
  await asOrg(place, async (ctx) => {
    const filters = ctx.use('filters');
    const { rows: before } = await ctx.sql('show statement_timeout');
    await ctx.sql(`insert into saved_filters (org_id, name, conditions) values ($1, 'kept', '{}')`, [place.orgId]);
    const slow = filters.limited({ limit: 500 }, () => ctx.sql('select pg_sleep(30)'));
    await t.throwsAsync(slow, { message: 'The conditions take too long to evaluate' });
    t.deepEqual((await ctx.sql('show statement_timeout')).rows, before);
    await filters.limited({ limit: 500 }, async () => undefined);
    t.deepEqual((await ctx.sql('show statement_timeout')).rows, before);
  });
  const [kept] = await platform.sql('select name from saved_filters where org_id = $1', [place.orgId]);
  t.is(kept?.name, 'kept');
});

test('every accepted regular expression is valid in the database, and means the same there as here', async (t) => {
  const pieces = [
    ...[
      'a',
      'b',
      '1',
      '-',
      '.',
      '^',
      '$',
      '|',
      '(',
      ')',
      '(?:',
      '[',
      '[^',
      ']',
      '*',
      '+',
      '?',
      '*?',
      '{2}',
      '{1,3}',
      '{2,}',
    ],
    ...[
      '{',
      '}',
      '\\d',
      '\\w',
      '\\s',
      '\\W',
      '\\.',
      '\\-',
      '\\]',
      '\\t',
      '\\\\',
      '\\b',
      'a-c',
      ',',
      '&',
      'é',
      '(?=',
      '(?i)',
      '***',
    ],
  ];
  const texts = ['', 'a', 'b', 'abc', 'aab1', 'a.b', '1-2', 'x x', 'a\tb', 'ab]c', '\\', 'cab1x', ',', '&', 'aaaa'];
  let passed = 0;
  await asPlatform((ctx) =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 7 }), async (parts) => {
        const pattern = parts.join('');
        if (patternFault(pattern) !== null) return;
        passed += 1;
        const { rows } = await ctx.sql<{ t: string; found: boolean }>(
          'select t, t ~ $1 as found from unnest($2::text[]) t',
          [pattern, texts],
        );
        const here = new RegExp(pattern, 's');
        for (const row of rows) if (row.found !== here.test(row.t)) throw new Error(JSON.stringify(row));
      }),
      { seed: 11, numRuns: 4000 },
    ),
  );
  t.true(passed > 800, `${passed} patterns were let through`);
});
