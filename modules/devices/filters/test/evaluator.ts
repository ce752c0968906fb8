/**
 * The meaning of condition trees, implemented a second time: over plain objects, without SQL and without code of the module, so
 * that both can be compared. Results are true, false or null (unknown).
 */
export type Json = string | number | boolean | null;
export interface Facts {
  id: string;
  orgId: string;
  siteId: string;
  hostname: string;
  displayName: string | null;
  agentVersion: string | null;
  status: string;
  enrolledAt: Date | null;
  lastSeenAt: Date | null;
  tags: string[];
  osType: string;
  osVersion: string | null;
  osBuild: string | null;
  architecture: string | null;
  hardware: Record<string, Json> | null;
  ipAddress: string[];
  publicIp: string[];
  macAddress: string[];
  metrics: Record<string, number> | null;
  software: string[];
  custom: Record<string, Json>;
}
export interface Definition {
  type: 'text' | 'number' | 'boolean' | 'dropdown' | 'date';
  choices?: string[];
}
export interface World {
  /** Milliseconds, with the fraction that the database has. */
  now: number;
  /** By organization and key. */
  definitions: Record<string, Record<string, Definition>>;
}
export interface Leaf {
  field: string;
  operator: string;
  value?: unknown;
}
export interface Tree {
  operator: 'AND' | 'OR';
  conditions: (Leaf | Tree)[];
}
type Answer = boolean | null;

const DAY = 86_400_000;
const NEGATIVE: Record<string, string> = {
  notEquals: 'equals',
  notContains: 'contains',
  notIn: 'in',
  notWithinLast: 'withinLast',
};

export function evaluate(tree: Tree | Leaf, facts: Facts, world: World): Answer {
  if (!('conditions' in tree)) return evaluateLeaf(tree, facts, world);
  const answers = tree.conditions.map((one) => evaluate(one, facts, world));
  const decisive = tree.operator === 'OR';
  if (answers.includes(decisive)) return decisive;
  return answers.includes(null) ? null : !decisive;
}

function evaluateLeaf({ field, operator, value }: Leaf, facts: Facts, world: World): Answer {
  if (field.startsWith('custom.')) return evaluateCustom({ field, operator, value }, facts, world);
  const seen = observe(field, facts, world);
  if (field === 'software.notInstalled') return !facts.software.some((name) => has(name, value as string));
  if (field === 'tags') return ofTags(operator, value, facts.tags);
  if (Array.isArray(seen)) return ofMany(operator, value, seen);
  return ofOne(operator, value, seen, world.now);
}

/** One value, or a list where a device has many. */
function observe(field: string, facts: Facts, { now }: World): Json | Date | string[] {
  const [group, name = ''] = field.split('.');
  const since = (at: Date | null) => (at ? (now - at.getTime()) / DAY : null);
  if (group === 'hardware') return facts.hardware?.[name] ?? null;
  if (group === 'metrics') return facts.metrics?.[name] ?? null;
  if (group === 'network') return facts[name as 'ipAddress'];
  if (group === 'software') return facts.software;
  if (field === 'daysSinceLastSeen') return since(facts.lastSeenAt);
  if (field === 'daysSinceEnrolled') return since(facts.enrolledAt);
  return facts[field as 'hostname'];
}

const has = (text: string, part: string) => text.toLowerCase().includes(part.toLowerCase());

function ofOne(operator: string, value: unknown, seen: Json | Date, now: number): Answer {
  if (operator === 'isNull') return seen === null;
  if (operator === 'isNotNull') return seen !== null;
  const opposite = NEGATIVE[operator];
  if (opposite) return seen === null ? true : !positive(opposite, value, seen, now);
  return seen === null ? null : positive(operator, value, seen, now);
}

function ofMany(operator: string, value: unknown, seen: string[]): Answer {
  if (operator === 'isNull') return seen.length === 0;
  if (operator === 'isNotNull') return seen.length > 0;
  const opposite = NEGATIVE[operator];
  if (opposite) return !seen.some((one) => positive(opposite, value, one, 0));
  return seen.length === 0 ? null : seen.some((one) => positive(operator, value, one, 0));
}

function ofTags(operator: string, value: unknown, tags: string[]): Answer {
  const wanted = [value].flat().map((tag) => String(tag).trim().replaceAll(/ +/g, ' ').toLowerCase());
  if (operator === 'isEmpty') return tags.length === 0;
  if (operator === 'isNotEmpty') return tags.length > 0;
  if (operator === 'hasAny') return wanted.some((tag) => tags.includes(tag));
  if (operator === 'hasAll') return wanted.every((tag) => tags.includes(tag));
  return tags.some((tag) => has(tag, value as string));
}

function positive(operator: string, value: unknown, seen: Exclude<Json, null> | Date, now: number): boolean {
  if (seen instanceof Date) return ofTime(operator, value, seen.getTime(), now);
  const text = String(seen).toLowerCase();
  const part = String(value).toLowerCase();
  switch (operator) {
    case 'equals':
      return seen === value;
    case 'in':
      return (value as unknown[]).includes(seen);
    case 'contains':
      return text.includes(part);
    case 'startsWith':
      return text.startsWith(part);
    case 'endsWith':
      return text.endsWith(part);
    case 'matches':
      return new RegExp(value as string, 's').test(String(seen));
    case 'between': {
      const { from, to } = value as { from: number; to: number };
      return (seen as number) >= from && (seen as number) <= to;
    }
    case 'greaterThan':
      return (seen as number) > (value as number);
    case 'greaterThanOrEquals':
      return (seen as number) >= (value as number);
    case 'lessThan':
      return (seen as number) < (value as number);
    case 'lessThanOrEquals':
      return (seen as number) <= (value as number);
  }
  throw new Error(`no such operator: ${operator}`);
}

/** The first moment, and the first one after the end: of a day, or of a millisecond. */
function spanOf(text: string): [number, number] {
  const day = text.length === 10;
  const start = Date.parse(day ? `${text}T00:00:00Z` : text);
  return [start, start + (day ? DAY : 1)];
}

/** Back by the calendar: in a month without a 31st, its last day. */
function monthsBack(now: number, months: number): number {
  const at = new Date(now);
  const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1));
  const last = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  first.setUTCDate(Math.min(at.getUTCDate(), last));
  return first.getTime() + (((now % DAY) + DAY) % DAY);
}

function backFrom(now: number, { amount, unit }: { amount: number; unit: string }): number {
  if (unit === 'months') return monthsBack(now, amount);
  return now - amount * ({ minutes: 60_000, hours: 3_600_000, days: DAY, weeks: 7 * DAY }[unit] ?? 0);
}

function ofTime(operator: string, value: unknown, at: number, now: number): boolean {
  if (operator === 'withinLast') return at >= backFrom(now, value as { amount: number; unit: string }) && at <= now;
  if (operator === 'between') {
    const { from, to } = value as { from: string; to: string };
    return at >= spanOf(from)[0] && at < spanOf(to)[1];
  }
  const [start, end] = spanOf(value as string);
  if (operator === 'before') return at < start;
  if (operator === 'after') return at >= end;
  return at >= start && at < end;
}

// ---- custom fields: each organization's definition applies to its devices; false without one, or with another type

function evaluateCustom({ field, operator, value }: Leaf, facts: Facts, { definitions, now }: World): Answer {
  const key = field.slice('custom.'.length);
  const definition = definitions[facts.orgId]?.[key];
  if (!definition || !takes(definition, operator, value)) return false;
  const stored = facts.custom[key] ?? null;
  const wanted = { text: 'string', dropdown: 'string', date: 'string', number: 'number', boolean: 'boolean' };
  const seen = typeof stored === wanted[definition.type] ? stored : null;
  if (definition.type === 'date' && typeof seen === 'string') return ofDay(operator, value, seen, now);
  return ofOne(operator, value, seen, now);
}

function ofDay(operator: string, value: unknown, seen: string, now: number): Answer {
  const opposite = NEGATIVE[operator];
  if (opposite) return !ofDay(opposite, value, seen, now);
  const day = (text: string) =>
    new Date(Date.parse(text.length === 10 ? `${text}T00:00:00Z` : text)).toISOString().slice(0, 10);
  switch (operator) {
    case 'isNull':
      return false;
    case 'isNotNull':
      return true;
    case 'withinLast': {
      const from = new Date(backFrom(now, value as { amount: number; unit: string })).toISOString().slice(0, 10);
      return seen >= from && seen <= new Date(now).toISOString().slice(0, 10);
    }
    case 'between': {
      const { from, to } = value as { from: string; to: string };
      return seen >= day(from) && seen <= day(to);
    }
    case 'before':
    case 'lessThan':
      return seen < day(value as string);
    case 'lessThanOrEquals':
      return seen <= day(value as string);
    case 'after':
    case 'greaterThan':
      return seen > day(value as string);
    case 'greaterThanOrEquals':
      return seen >= day(value as string);
  }
  return seen === day(value as string);
}

const TAKEN: Record<Definition['type'], string[]> = {
  text: ['equals', 'notEquals', 'contains', 'notContains', 'startsWith', 'endsWith', 'matches', 'in', 'notIn'],
  dropdown: ['equals', 'notEquals', 'in', 'notIn'],
  number: ['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals', 'between'],
  boolean: ['equals', 'notEquals'],
  date: [
    ...['equals', 'notEquals', 'greaterThan', 'greaterThanOrEquals', 'lessThan', 'lessThanOrEquals', 'between'],
    ...['before', 'after', 'withinLast', 'notWithinLast'],
  ],
};

/** Whether a definition of this type accepts the condition. */
function takes({ type, choices = [] }: Definition, operator: string, value: unknown): boolean {
  if (operator === 'isNull' || operator === 'isNotNull') return true;
  if (!TAKEN[type].includes(operator)) return false;
  const values = [value].flat();
  const strings = values.every((one) => typeof one === 'string');
  if (type === 'dropdown') return values.every((one) => choices.includes(one as string));
  if (type === 'boolean') return typeof value === 'boolean';
  if (type === 'text') return strings;
  const ends = operator === 'between' ? Object.values(value as object) : values;
  if (type === 'number') return ends.every((one) => typeof one === 'number');
  return operator.endsWith('ithinLast') || ends.every((one) => typeof one === 'string' && /^\d{4}-\d\d-\d\d/.test(one));
}

/** Whether an organization with these definitions has every custom field of a tree, with a type that accepts its condition. */
export function understood(tree: Tree | Leaf, definitions: Record<string, Definition>): boolean {
  if ('conditions' in tree) return tree.conditions.every((one) => understood(one, definitions));
  if (!tree.field.startsWith('custom.')) return true;
  const definition = definitions[tree.field.slice('custom.'.length)];
  return definition !== undefined && takes(definition, tree.operator, tree.value);
}
