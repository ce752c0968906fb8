/** The condition that a caller reaches a row, as SQL. */
import test from 'ava';
import { ABOUT_DEVICE, IN_SITE, type ReachColumns, reach } from '../reach.ts';

const ALL = { orgIds: null, siteIds: null, groupIds: null };
/** The condition without line breaks, and the values of its parameters. */
function conditionOf(limits: Partial<Parameters<typeof reach>[0]['scope']>, columns?: ReachColumns) {
  const values: unknown[] = [];
  const sql = reach({ scope: { ...ALL, ...limits } }, 'x', (value, type) => `$${values.push(value)}::${type}`, columns);
  return { sql: sql.replace(/\s+/g, ' '), values };
}
const member = (column: string, at: number) =>
  `exists (select from device_group_members gm where gm.device_id = ${column} and gm.group_id = any($${at}::uuid[]) and not gm.is_excluded)`;

test('a caller without limits reaches every row', (t) => {
  for (const columns of [undefined, ABOUT_DEVICE, IN_SITE]) {
    t.deepEqual(conditionOf({}, columns), { sql: 'true', values: [] });
  }
});

test('devices are limited by organization, site and group at once', (t) => {
  const limits = { orgIds: ['o'], siteIds: ['s'], groupIds: ['g'] };
  t.deepEqual(conditionOf(limits), {
    sql: `x.org_id = any($1::uuid[]) and x.site_id = any($2::uuid[]) and ${member('x.id', 3)}`,
    values: [['o'], ['s'], ['g']],
  });
});

test('a row about a device is limited by the site and the groups of the device', (t) => {
  const site = 'exists (select from devices rd where rd.id = x.device_id and rd.site_id = any($1::uuid[]))';
  t.deepEqual(conditionOf({ siteIds: ['s'] }, ABOUT_DEVICE), { sql: site, values: [['s']] });
  t.deepEqual(conditionOf({ groupIds: ['g'] }, ABOUT_DEVICE), { sql: member('x.device_id', 1), values: [['g']] });
});

test('a caller limited to groups reaches no row in a site that is about no device', (t) => {
  t.is(conditionOf({ siteIds: ['s'] }, IN_SITE).sql, 'x.site_id = any($1::uuid[])');
  t.is(conditionOf({ groupIds: ['g'] }, IN_SITE).sql, 'false');
});

test('a limit to nothing reaches nothing, and rows of a partner are reached by its organizations', (t) => {
  t.deepEqual(conditionOf({ siteIds: [] }).values, [[]]);
  const shared = { org: 'org_id', site: null, device: null, isPartnerOwned: true };
  t.is(conditionOf({ orgIds: ['o'] }, shared).sql, '(x.org_id = any($1::uuid[]) or x.org_id is null)');
  t.is(conditionOf({ siteIds: ['s'], groupIds: ['g'] }, shared).sql, 'true', 'the table knows neither');
});
