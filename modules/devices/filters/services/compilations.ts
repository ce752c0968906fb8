/** A checked tree as one SQL condition over `devices d`, with its parameters and what to know about it. */
import type { Context } from '#core';
import type { FilterField, Join } from '../models/field.ts';
import { Params } from '../operators/kind.ts';
import { anySearched, leafSql, type Place, type Way } from './leaves.ts';
import { type CheckedGroup, type CheckedLeaf, checkTree } from './trees.ts';

export interface CompileOptions {
  /** The organizations whose devices are asked for; the caller's reach when absent. Limits field definitions, not rows. */
  orgIds?: readonly string[] | null;
  /** Number of the first parameter, where the condition becomes part of a statement with others; 1 when absent. */
  first?: number;
  /** True for a handful of devices that the statement names: looks at each instead of searching all. */
  few?: boolean;
  /** Where the tree lies in the request, for the paths of faults; `conditions` when absent. */
  path?: string;
}

export interface Compiled {
  /** A condition over `devices d` and `joins`. Put it in parentheses: it may be an OR. */
  where: string;
  params: unknown[];
  /** Tables that `where` speaks of, in a fixed order; each gives one row a device. */
  joins: readonly Join[];
  /** The keys that are used, sorted. */
  fields: string[];
  /** Its answer changes as time goes by, without any write. */
  timeRelative: boolean;
  /** It reads what heartbeats change (status, metrics, last seen). */
  volatile: boolean;
  /** It asks for removed devices by name, which otherwise stay out. */
  removed: boolean;
  /** Milliseconds that its statement may take (evaluations.ts); null where it cannot take long. */
  limit: number | null;
}

const RELATIVE = new Set(['withinLast', 'notWithinLast']);

/** Regular expressions can be made to run for long, many conditions only take their sum. */
const PATTERN_LIMIT = 2000;
const LIMIT = 10_000;
const FEW_CONDITIONS = 10;

export function limitOf(leaves: readonly CheckedLeaf[]): number | null {
  if (leaves.some(({ operator }) => operator === 'matches')) return PATTERN_LIMIT;
  return leaves.length > FEW_CONDITIONS ? LIMIT : null;
}

export function leavesOf(group: CheckedGroup): CheckedLeaf[] {
  return group.children.flatMap((child) => ('children' in child ? leavesOf(child) : [child]));
}

/** Tables beside `devices d` that these fields need. Throws when two fields mean different tables by one name. */
export function joinsOf(fields: readonly FilterField[]): Join[] {
  const found = new Map<string, Join>();
  for (const join of fields.flatMap((field) => field.joins ?? [])) {
    const other = found.get(join.alias);
    if (other && other.sql !== join.sql) throw new Error(`two filter fields mean different tables by ${join.alias}`);
    found.set(join.alias, join);
  }
  return [...found.values()].sort((a, b) => (a.alias < b.alias ? -1 : 1));
}

/** Down from the root, `place` stays the same object along ANDs, so that one search of all of them leads. */
function groupSql(group: CheckedGroup, place: Place, params: Params): string {
  const [first] = group.children;
  if (first && group.children.length === 1) return nodeSql(first, place, params);
  if (group.operator === 'AND') return `(${group.children.map((one) => nodeSql(one, place, params)).join(' and ')})`;
  const led = place.leads ? ledByAny(group, place, params) : null;
  return led ?? `(${group.children.map((one) => nodeSql(one, { ...place, leads: false }, params)).join(' or ')})`;
}

const nodeSql = (node: CheckedGroup | CheckedLeaf, place: Place, params: Params): string =>
  'children' in node ? groupSql(node, place, params) : leafSql(node, place, params);

/** An OR of nothing but searches leads as one. */
function ledByAny(group: CheckedGroup, place: Place, params: Params): string | null {
  const leaves = group.children.flatMap((child) => ('children' in child ? [] : [child]));
  if (leaves.length < group.children.length) return null;
  const led = anySearched(leaves, place.way, params);
  if (led) place.leads = false;
  return led;
}

const asksForRemoved = ({ operator, variants }: CheckedLeaf): boolean =>
  (operator === 'equals' || operator === 'in') &&
  variants.some(({ field, value }) => field.removed !== undefined && [value].flat().includes(field.removed));

/** Work that reaches every organization announces none: the search functions would find nothing for it. */
const wayOf = (ctx: Context, few: boolean | undefined): Way =>
  few ? 'few' : ctx.scope.orgIds === null ? 'everywhere' : 'within';

/**
 * The tree as a condition over `devices d`, with parameters and joins. Throws VALIDATION_ERROR with the path of each fault. The
 * condition does not limit which devices the caller sees or which states count: the statement around it does. Run that
 * statement through `limited`. The same tree gives the same text, whatever its values are.
 */
export async function compile(ctx: Context, conditions: unknown, options: CompileOptions = {}): Promise<Compiled> {
  const orgIds = options.orgIds === undefined ? ctx.scope.orgIds : options.orgIds;
  const tree = await checkTree(ctx, conditions, orgIds, options.path);
  const params = new Params(options.first);
  const where = groupSql(tree, { way: wayOf(ctx, options.few), leads: true }, params);
  const leaves = leavesOf(tree);
  const used = leaves.flatMap((leaf) => leaf.variants.map(({ field }) => field));
  return {
    where,
    params: params.list,
    joins: joinsOf(used),
    fields: [...new Set(leaves.map((leaf) => leaf.key))].sort(),
    timeRelative: leaves.some(({ operator }) => RELATIVE.has(operator)) || used.some(({ clock }) => clock),
    volatile: used.some((field) => field.volatile),
    removed: leaves.some(asksForRemoved),
    limit: limitOf(leaves),
  };
}
