/** Explains why one device matches a condition tree or not: the result of each condition, and the values of the device. */
import { type Context, errors } from '#core';
import { Params } from '../operators/kind.ts';
import { joinsOf, leavesOf, limitOf } from './compilations.ts';
import { limited, visible } from './evaluations.ts';
import { leafSql, positiveTest, rowsSql } from './leaves.ts';
import { type CheckedGroup, type CheckedLeaf, checkTree } from './trees.ts';

type Verdict = 'true' | 'false' | 'unknown';
interface ExplainedLeaf {
  field: string;
  operator: string;
  value?: unknown;
  result: Verdict;
  observed: unknown;
}
export interface ExplainedGroup {
  operator: 'AND' | 'OR';
  result: Verdict;
  conditions: (ExplainedLeaf | ExplainedGroup)[];
}

/** Values shown of a field with many. */
const MAX_OBSERVED = 20;
const ASKS_FOR_ONE = new Set(['equals', 'in', 'contains', 'startsWith', 'endsWith', 'matches']);
const verdict = (answer: unknown): Verdict =>
  answer === null || answer === undefined ? 'unknown' : answer ? 'true' : 'false';

/** As in SQL: one false decides an AND and one true an OR, even if others are unknown. */
export function decide(operator: 'AND' | 'OR', results: readonly Verdict[]): Verdict {
  const [deciding, other] = operator === 'AND' ? (['false', 'true'] as const) : (['true', 'false'] as const);
  if (results.includes(deciding)) return deciding;
  return results.includes('unknown') ? 'unknown' : other;
}

/** The result of a condition; unknown when it is about one of many values and the device has none. */
function answerSql(leaf: CheckedLeaf, params: Params): string {
  const sql = leafSql(leaf, { way: 'few', leads: false }, params);
  const [variant] = leaf.variants;
  const { rows, absent } = variant?.field ?? {};
  if (!variant || !rows || absent || !ASKS_FOR_ONE.has(leaf.operator)) return sql;
  return `case when exists (select ${rowsSql(variant.field, params)}) then ${sql} end`;
}

/** The value of the device, or up to twenty of many, those that meet the condition first. */
function observedSql(leaf: CheckedLeaf, params: Params): string {
  const [variant] = leaf.variants;
  if (!variant) return 'null';
  const { rows, type, value = 'null' } = variant.field;
  if (!rows) return type === 'datetime' ? shownTime(value) : `to_json(${value})`;
  const first = positiveTest(variant, leaf.operator, 'o.value', params);
  return `(select json_agg(f.value) from (
    select o.value from (select distinct ${rows.value} as value ${rowsSql(variant.field, params)}) o
    order by ${first ? `(${first}) desc, ` : ''}o.value limit ${MAX_OBSERVED}) f)`;
}
const shownTime = (value: string) => `to_char((${value}) at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

function explained(
  group: CheckedGroup,
  answers: ReadonlyMap<CheckedLeaf, { result: Verdict; observed: unknown }>,
): ExplainedGroup {
  const conditions = group.children.map((child) => {
    if ('children' in child) return explained(child, answers);
    const { result = 'unknown', observed = null } = answers.get(child) ?? {};
    const value = child.given === undefined ? {} : { value: child.given };
    return { field: child.key, operator: child.operator, ...value, result, observed };
  });
  const result = decide(
    group.operator,
    conditions.map((one) => one.result),
  );
  return { operator: group.operator, result, conditions };
}

/** Throws 404 for a device that the caller does not see. Custom fields are those of the device's organization. */
export async function explain(ctx: Context, conditions: unknown, deviceId: string) {
  const seen = new Params();
  const where = `${visible(ctx, seen)} and d.id = ${seen.add(deviceId, 'uuid')}`;
  // reach: the condition is visible(), which is reach()
  const { rows: devices } = await ctx.sql<{ orgId: string }>(
    `select d.org_id as "orgId" from devices d where ${where}`,
    seen.list,
  );
  const orgId = devices[0]?.orgId;
  if (!orgId) throw errors.NotFound('Device not found');
  const tree = await checkTree(ctx, conditions, [orgId]);
  const leaves = leavesOf(tree);
  const params = new Params();
  const id = params.add(deviceId, 'uuid');
  const columns = leaves.map((leaf, n) => `${answerSql(leaf, params)} as r${n}, ${observedSql(leaf, params)} as o${n}`);
  const joins = joinsOf(leaves.flatMap((leaf) => leaf.variants.map(({ field }) => field)));
  // reach: the statement above has found the device within reach
  const { rows } = await limited(ctx, { limit: limitOf(leaves) }, () =>
    ctx.sql<Record<string, unknown> & { evaluatedAt: Date }>(
      `select now() as "evaluatedAt", ${columns.join(', ')} from devices d ${joins.map((join) => join.sql).join(' ')} where d.id = ${id}`,
      params.list,
    ),
  );
  const row = rows[0];
  if (!row) throw errors.NotFound('Device not found');
  const answers = new Map(leaves.map((leaf, n) => [leaf, { result: verdict(row[`r${n}`]), observed: row[`o${n}`] }]));
  const result = explained(tree, answers);
  return { data: { deviceId, matches: result.result === 'true', evaluatedAt: row.evaluatedAt, conditions: result } };
}
