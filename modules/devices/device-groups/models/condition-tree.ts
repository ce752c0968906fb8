/** Condition trees of groups: smaller than those of saved filters. */
import Joi from 'joi';
import { named } from '#core';

export interface Condition {
  field: string;
  operator: string;
  value?: unknown;
}
export interface ConditionTree {
  operator: 'AND' | 'OR';
  conditions: (Condition | ConditionTree)[];
}
export const MAX_LEVELS = 5;
export const MAX_CONDITIONS = 50;
const MAX_BYTES = 65_536;

export const isTree = (node: Condition | ConditionTree): node is ConditionTree => 'conditions' in node;

export const conditionsOf = (tree: ConditionTree): Condition[] =>
  tree.conditions.flatMap((node) => (isTree(node) ? conditionsOf(node) : [node]));

export const levelsOf = (tree: ConditionTree): number =>
  1 + Math.max(0, ...tree.conditions.map((node) => (isTree(node) ? levelsOf(node) : 0)));

/** Checks the size only: the filters module checks everything else, and returns the path of each fault. */
export const conditionTree = named(
  'GroupConditions',
  Joi.object<ConditionTree>()
    .unknown()
    .custom((value: object, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES ? value : helpers.error('object.maxBytes'),
    )
    .messages({ 'object.maxBytes': `{{#label}} must have at most ${MAX_BYTES} bytes of JSON` })
    .meta({ maxBytes: MAX_BYTES })
    .description(
      `{ operator, conditions } as in saved filters, with at most ${MAX_LEVELS} levels and ${MAX_CONDITIONS} conditions; ` +
        'groupId is not among the fields',
    ),
);

/**
 * The tree without the conditions on fields for which `loose` is true; each counts as met. Devices that match the result may
 * match the tree once those fields change. Null when every device may.
 */
export function loosened(tree: ConditionTree, loose: (field: string) => boolean): ConditionTree | null {
  const parts = tree.conditions.map((node) => (isTree(node) ? loosened(node, loose) : loose(node.field) ? null : node));
  const kept = parts.filter((part) => part !== null);
  if (tree.operator === 'OR' ? kept.length < parts.length : kept.length === 0) return null;
  return { operator: tree.operator, conditions: kept };
}
