/** One condition as SQL. The README has the rules for devices without a value; tests evaluate them a second time. */
import { OPPOSITES, type Operator } from '../models/condition.ts';
import type { CallerField, FilterField, Search } from '../models/field.ts';
import { KINDS } from '../operators/index.ts';
import type { Params } from '../operators/kind.ts';
import { likePattern } from '../operators/texts.ts';
import type { CheckedLeaf } from './trees.ts';

/** How rows are found: `within` and `everywhere` search many devices by indexes, `few` checks each device by itself. */
export type Way = 'within' | 'everywhere' | 'few';
/** State while SQL is built. `leads` until the first search of an AND has become the one that finds the rows. */
export interface SearchState {
  way: Way;
  leads: boolean;
}
type Variant = CheckedLeaf['variants'][number];

const LIKE: ReadonlySet<Operator> = new Set(['contains', 'startsWith', 'endsWith']);
const SEARCH_TYPES: Partial<Record<FilterField['type'], string>> = {
  string: 'text',
  enum: 'text',
  number: 'numeric',
  boolean: 'boolean',
  array: 'text[]',
};

/** Puts everything except a column in parentheses. */
export const enclosed = (expression: string): string =>
  /^[a-z_]+\.[a-z_]+$/.test(expression) ? expression : `(${expression})`;

interface IndexSearch {
  search: Search;
  /** The value, and the type as which it is sent. */
  sent: unknown;
  type: string;
}

/** The search for this operator, if there is one for this way. */
function searchOf({ field, value }: Variant, operator: Operator, way: Way): IndexSearch | null {
  if (way === 'few') return null;
  const like = field.type === 'string' && LIKE.has(operator);
  const search = field.searches?.[like ? 'like' : (operator as 'equals')];
  const type = SEARCH_TYPES[field.type];
  if (!search || !type || (way === 'everywhere' && !search.everywhere)) return null;
  if (search.except !== undefined && search.except === value) return null;
  const sent = like ? likePattern(operator, value as string) : field.type === 'number' ? String(value) : value;
  return { search, sent, type };
}

/** A query for the column `device_id` or `place` of what the search finds. */
function searchQuery({ search, sent, type }: IndexSearch, column: string, way: Way, params: Params): string {
  const value = () => params.add(sent, type);
  if (way === 'everywhere') return (search.everywhere ?? '').replaceAll('?', value);
  return `select f.${column} from ${search.within.replaceAll('?', value)} f`;
}

/**
 * The condition that finds the rows: the devices that any of these searches returns. Only one condition of an AND can be it. A
 * second array would be scanned from its beginning for each row, so all other conditions are subqueries.
 */
function rowsCondition(searches: readonly IndexSearch[], way: Way, params: Params): string {
  const places = way === 'within' && searches.every(({ search }) => search.places);
  const [column, given] = places ? ['d.ctid', 'place'] : ['d.id', 'device_id'];
  return `${column} = any(array(${searches.map((one) => searchQuery(one, given ?? '', way, params)).join(' union all ')}))`;
}

/** An OR of conditions as one condition that finds the rows; null unless each condition has a search. */
export function anySearched(leaves: readonly CheckedLeaf[], way: Way, params: Params): string | null {
  const searches = leaves.flatMap(({ operator, variants }) => {
    const [variant, more] = variants;
    if (!variant || more || variant.field.only || variant.field.onFor || variant.field.absent) return [];
    return searchOf(variant, operator, way) ?? [];
  });
  return searches.length === leaves.length ? rowsCondition(searches, way, params) : null;
}

function searched(variant: Variant, operator: Operator, state: SearchState, params: Params): string | null {
  const { way } = state;
  const search = searchOf(variant, operator, way);
  if (!search) return null;
  if (state.leads) {
    state.leads = false;
    return rowsCondition([search], way, params);
  }
  const places = way === 'within' && search.search.places;
  return places
    ? `d.ctid in (${searchQuery(search, 'place', way, params)})`
    : `d.id in (${searchQuery(search, 'device_id', way, params)})`;
}

/** SQL: the rows of a field with many values that belong to `d`, without those that the caller may not know. */
export function rowsSql({ rows, among, type }: CallerField, params: Params): string {
  if (!rows) throw new Error('a field has neither value nor rows');
  const known = among ? ` and ${rows.value} = any(${params.add(among, `${SEARCH_TYPES[type] ?? type}[]`)})` : '';
  return `from ${rows.from} where ${rows.device} = d.id${known}`;
}

function hasRow(field: CallerField, params: Params, test?: string): string {
  return `exists (select ${rowsSql(field, params)}${test ? ` and ${test}` : ''})`;
}

/** SQL for whether `expression` meets the condition or, for an opposite, the condition that it negates; null for null tests. */
export function positiveTest(
  { field, value }: Variant,
  operator: Operator,
  expression: string,
  params: Params,
): string | null {
  if (operator === 'isNull' || operator === 'isNotNull') return null;
  return KINDS[field.type].test(OPPOSITES[operator] ?? operator, enclosed(expression), value, params);
}

/** Null only for a device without a value, and an operator that needs one. */
function variantSql(variant: Variant, operator: Operator, state: SearchState, params: Params): string {
  const { field } = variant;
  const { rows, value: expression = '' } = field;
  if (operator === 'isNull') return rows ? `not ${hasRow(field, params)}` : `${enclosed(expression)} is null`;
  if (operator === 'isNotNull') return rows ? hasRow(field, params) : `${enclosed(expression)} is not null`;
  const positive = OPPOSITES[operator] ?? operator;
  const negated = (positive !== operator) !== (field.absent === true);
  const listed = searched(variant, positive, negated ? { ...state, leads: false } : state, params);
  if (listed) return negated ? `not (${listed})` : listed;
  const test = positiveTest(variant, operator, rows?.value ?? expression, params) ?? 'false';
  if (rows) return `${negated ? 'not ' : ''}${hasRow(field, params, test)}`;
  return negated ? `(${test}) is not true` : test;
}

/** Limits a condition to the organizations that have the field. */
function onlyWhere({ only, onFor }: FilterField, params: Params): string | null {
  const on = onFor ? `d.org_id = any(${params.add(onFor, 'uuid[]')})` : null;
  if (!only) return on;
  const parts: string[] = [];
  if (only.orgIds) parts.push(`d.org_id = any(${params.add(only.orgIds, 'uuid[]')})`);
  if (only.partnerIds) {
    const partners = params.add(only.partnerIds, 'uuid[]');
    parts.push(`d.org_id in (select o.id from organizations o where o.partner_id = any(${partners}))`);
  }
  return `(${parts.join(' or ')})${on ? ` and ${on}` : ''}`;
}

/** True, false or null, as SQL over `d` and the joins of the fields. */
export function leafSql(leaf: CheckedLeaf, state: SearchState, params: Params): string {
  const alone = leaf.variants.length === 1;
  const parts = leaf.variants.map((variant) => {
    const only = onlyWhere(variant.field, params);
    const sql = variantSql(variant, leaf.operator, alone ? state : { ...state, leads: false }, params);
    return only ? `(${only} and ${sql})` : sql;
  });
  return alone ? (parts[0] ?? '') : `(${parts.join(' or ')})`;
}
