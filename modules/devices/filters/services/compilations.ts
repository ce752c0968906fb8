/** Compiles a tree to one SQL condition over `devices d`, with its parameters and properties. */
import type { Context } from '#core';
import type { FilterField, Join } from '../models/field.ts';
import { Params } from '../operators/kind.ts';
import { anySearched, leafSql, type SearchState, type Way } from './leaves.ts';
import { type CheckedGroup, type CheckedLeaf, checkTree } from './trees.ts';

export interface CompileOptions {
  /** The organizations whose devices are searched; the caller's reach when absent. Limits field definitions, not rows. */
  orgIds?: readonly string[] | null;
  /** Number of the first parameter, for a statement that has other parameters before; 1 when absent. */
  first?: number;
  /** True when the statement names a few devices: checks each of them instead of searching all. */
  few?: boolean;
  /** The path of the tree in the request, for the paths of faults; `conditions` when absent. */
  path?: string;
}

export interface Compiled {
  /** A condition over `devices d` and `joins`. Put it in parentheses, because it can be an OR. */
  where: string;
  params: unknown[];
  /** Tables that `where` refers to, in a fixed order; each returns one row for each device. */
  joins: readonly Join[];
  /** The keys that are used, sorted. */
  fields: string[];
  /** Its result changes with time, without any write. */
  timeRelative: boolean;
  /** It reads values that heartbeats change (status, metrics, last seen). */
  volatile: boolean;
  /** It names the status of removed devices, which are left out otherwise. */
  removed: boolean;
  /** Milliseconds that its statement may take (evaluations.ts); null when it cannot take long. */
  limit: number | null;
}

const RELATIVE = new Set(['withinLast', 'notWithinLast']);

/** Shorter for regular expressions, which can run for long; the time of many conditions is only their sum. */
const PATTERN_TIMEOUT_MS = 2000;
const TIMEOUT_MS = 10_000;
const MAX_UNLIMITED_CONDITIONS = 10;

export function limitOf(leaves: readonly CheckedLeaf[]): number | null {
  if (leaves.some(({ operator }) => operator === 'matches')) return PATTERN_TIMEOUT_MS;
  return leaves.length > MAX_UNLIMITED_CONDITIONS ? TIMEOUT_MS : null;
}

export function leavesOf(group: CheckedGroup): CheckedLeaf[] {
  return group.children.flatMap((child) => ('children' in child ? leavesOf(child) : [child]));
}

/** Tables besides `devices d` that these fields need. Throws when two fields use one alias for different tables. */
export function joinsOf(fields: readonly FilterField[]): Join[] {
  const found = new Map<string, Join>();
  for (const join of fields.flatMap((field) => field.joins ?? [])) {
    const other = found.get(join.alias);
    if (other && other.sql !== join.sql)
      throw new Error(`two filter fields use the alias ${join.alias} for different tables`);
    found.set(join.alias, join);
  }
  return [...found.values()].sort((a, b) => (a.alias < b.alias ? -1 : 1));
}

/** All conditions of nested ANDs share one `state` object, so that only one of their searches leads. */
function groupSql(group: CheckedGroup, state: SearchState, params: Params): string {
  const [first] = group.children;
  if (first && group.children.length === 1) return nodeSql(first, state, params);
  if (group.operator === 'AND') return `(${group.children.map((one) => nodeSql(one, state, params)).join(' and ')})`;
  const led = state.leads ? ledByAny(group, state, params) : null;
  return led ?? `(${group.children.map((one) => nodeSql(one, { ...state, leads: false }, params)).join(' or ')})`;
}

const nodeSql = (node: CheckedGroup | CheckedLeaf, state: SearchState, params: Params): string =>
  'children' in node ? groupSql(node, state, params) : leafSql(node, state, params);

/** An OR in which each condition has a search leads as a whole. */
function ledByAny(group: CheckedGroup, state: SearchState, params: Params): string | null {
  const leaves = group.children.flatMap((child) => ('children' in child ? [] : [child]));
  if (leaves.length < group.children.length) return null;
  const led = anySearched(leaves, state.way, params);
  if (led) state.leads = false;
  return led;
}

const asksForRemoved = ({ operator, variants }: CheckedLeaf): boolean =>
  (operator === 'equals' || operator === 'in') &&
  variants.some(({ field, value }) => field.removed !== undefined && [value].flat().includes(field.removed));

/** A caller who reaches all organizations has no `orgIds`: the search functions would find nothing. */
const wayOf = (ctx: Context, few: boolean | undefined): Way =>
  few ? 'few' : ctx.scope.orgIds === null ? 'everywhere' : 'within';

/**
 * The tree as a condition over `devices d`, with parameters and joins. Throws VALIDATION_ERROR with the path of each fault. The
 * condition does not limit which devices the caller sees or which states count: the statement around it does. Run that
 * statement through `limited`. Trees of the same shape give the same text, whatever their values are.
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
