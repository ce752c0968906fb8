/** Checks a condition tree before it is compiled: shape, size, fields, operators and typed values. */
import { type Context, errors } from '#core';
import { MAX_CONDITIONS, MAX_LEVELS, OPERATORS, type Operator, WITHOUT_VALUE } from '../models/condition.ts';
import type { CallerField } from '../models/field.ts';
import { KINDS, operatorsOf } from '../operators/index.ts';
import { Fault } from '../operators/kind.ts';
import { fieldsFor } from './fields.ts';

export interface CheckedLeaf {
  key: string;
  operator: Operator;
  /** The value as given; absent if the operator takes none. */
  given: unknown;
  /** The fields of this key whose types accept the condition, with the value as that type reads it. */
  variants: readonly { field: CallerField; value: unknown }[];
}
export interface CheckedGroup {
  operator: 'AND' | 'OR';
  children: (CheckedLeaf | CheckedGroup)[];
}
interface TreeFault {
  in: 'payload';
  path: string;
  code: string;
  message: string;
}
interface RawLeaf {
  path: string;
  field: string;
  operator: Operator;
  hasValue: boolean;
  value: unknown;
  checked: CheckedLeaf;
}

/** Faults that one response reports. */
const MAX_FAULTS = 50;
const KNOWN: ReadonlySet<unknown> = new Set(OPERATORS);

/** The first pass: checks everything that does not depend on fields. Never goes deeper than the limit. */
class Reader {
  readonly faults: TreeFault[] = [];
  readonly leaves: RawLeaf[] = [];

  fault(path: string, code: string, message: string): void {
    if (this.faults.length < MAX_FAULTS) this.faults.push({ in: 'payload', path, code, message: `${path} ${message}` });
  }

  group(raw: unknown, path: string, level: number): CheckedGroup {
    const group: CheckedGroup = { operator: 'AND', children: [] };
    if (level > MAX_LEVELS) {
      this.fault(path, 'TOO_DEEP', `lies deeper than ${MAX_LEVELS} levels`);
      return group;
    }
    if (!isObject(raw)) {
      this.fault(path, 'BAD_SHAPE', 'must be a group { operator, conditions }');
      return group;
    }
    this.only(raw, path, ['operator', 'conditions']);
    if (raw.operator === 'OR' || raw.operator === 'AND') group.operator = raw.operator;
    else this.fault(`${path}.operator`, 'UNKNOWN_OPERATOR', 'must be AND or OR');
    if (!Array.isArray(raw.conditions) || raw.conditions.length === 0) {
      this.fault(`${path}.conditions`, 'BAD_SHAPE', 'must be a list of at least one condition');
      return group;
    }
    for (const [index, child] of raw.conditions.entries()) {
      const at = `${path}.conditions.${index}`;
      if (this.leaves.length >= MAX_CONDITIONS || index >= MAX_CONDITIONS) {
        this.fault(at, 'TOO_MANY', `is more than ${MAX_CONDITIONS} conditions`);
        break;
      }
      const isGroup = isObject(child) && Object.hasOwn(child, 'conditions');
      const node = isGroup ? this.group(child, at, level + 1) : this.leaf(child, at);
      if (node) group.children.push(node);
    }
    return group;
  }

  private leaf(raw: unknown, path: string): CheckedLeaf | null {
    if (!isObject(raw)) {
      this.fault(path, 'BAD_SHAPE', 'must be a condition { field, operator, value } or a group');
      return null;
    }
    this.only(raw, path, ['field', 'operator', 'value']);
    const { field, operator, value } = raw;
    const hasValue = value !== undefined;
    if (typeof field !== 'string') this.fault(`${path}.field`, 'UNKNOWN_FIELD', 'must be the key of a field');
    if (!KNOWN.has(operator)) this.fault(`${path}.operator`, 'UNKNOWN_OPERATOR', 'is not an operator');
    if (typeof field !== 'string' || !KNOWN.has(operator)) return null;
    const known = operator as Operator;
    const checked: CheckedLeaf = { key: field, operator: known, given: value, variants: [] };
    this.leaves.push({ path, field, operator: known, hasValue, value, checked });
    return checked;
  }

  private only(raw: object, path: string, keys: readonly string[]): void {
    for (const key of Object.keys(raw)) {
      if (!keys.includes(key)) this.fault(`${path}.${key.slice(0, 50)}`, 'BAD_SHAPE', 'is not allowed');
    }
  }
}

const isObject = (raw: unknown): raw is Record<string, unknown> =>
  raw !== null && typeof raw === 'object' && !Array.isArray(raw);

/** The value of a condition as the type of the field reads it, or the fault. */
function tryField(leaf: RawLeaf, field: CallerField): { value: unknown } | { path: string; fault: Fault } {
  const { path, operator, hasValue, value } = leaf;
  const allowed = operatorsOf(field);
  if (!allowed.includes(operator)) {
    const fault = new Fault('WRONG_OPERATOR', `does not apply to ${leaf.field}, which takes ${allowed.join(', ')}`);
    return { path: `${path}.operator`, fault };
  }
  if (WITHOUT_VALUE.has(operator)) {
    if (!hasValue) return { value: null };
    return { path: `${path}.value`, fault: new Fault('BAD_VALUE', `must be left out with ${operator}`) };
  }
  if (!hasValue) return { path: `${path}.value`, fault: new Fault('BAD_VALUE', 'is required') };
  try {
    return { value: KINDS[field.type].read(operator, value, field) };
  } catch (error) {
    if (error instanceof Fault) return { path: `${path}.value${error.at}`, fault: error };
    throw error;
  }
}

/** A key that organizations define differently is valid when one of its definitions accepts the condition. */
function typeLeaf(reader: Reader, leaf: RawLeaf, fields: readonly CallerField[] | undefined): void {
  if (!fields || fields.length === 0) {
    reader.fault(`${leaf.path}.field`, 'UNKNOWN_FIELD', 'is an unknown field');
    return;
  }
  const tried = fields.map((field) => ({ field, ...tryField(leaf, field) }));
  leaf.checked.variants = tried.flatMap((one) => ('value' in one ? [{ field: one.field, value: one.value }] : []));
  if (leaf.checked.variants.length > 0) return;
  const faults = tried.flatMap((one) => ('fault' in one ? [one] : []));
  // The fault of the closest definition: one that at least has the operator.
  const told = faults.find(({ fault }) => fault.code !== 'WRONG_OPERATOR') ?? faults[0];
  if (told) reader.fault(told.path, told.fault.code, told.fault.message);
}

/**
 * The tree with its fields and typed values. Throws VALIDATION_ERROR with every fault, each with its path in the tree.
 * @param orgIds the organizations whose own field definitions count; null means all
 * @param path of the tree in the request
 */
export async function checkTree(
  ctx: Context,
  conditions: unknown,
  orgIds: readonly string[] | null,
  path = 'conditions',
): Promise<CheckedGroup> {
  const reader = new Reader();
  const tree = reader.group(conditions, path, 1);
  const fields = await fieldsFor(ctx, new Set(reader.leaves.map((leaf) => leaf.field)), orgIds);
  for (const leaf of reader.leaves) typeLeaf(reader, leaf, fields.get(leaf.field));
  const [first] = reader.faults;
  if (first) throw errors.ValidationFailed({ message: first.message, details: reader.faults });
  return tree;
}
