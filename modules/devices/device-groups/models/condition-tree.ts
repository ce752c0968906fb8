/** Condition trees as groups take them: smaller than those of saved filters. */
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
export const MOST_LEVELS = 5;
export const MOST_CONDITIONS = 50;
const MOST_BYTES = 65_536;

export const isTree = (node: Condition | ConditionTree): node is ConditionTree => 'conditions' in node;

export const conditionsOf = (tree: ConditionTree): Condition[] =>
  tree.conditions.flatMap((node) => (isTree(node) ? conditionsOf(node) : [node]));

export const levelsOf = (tree: ConditionTree): number =>
  1 + Math.max(0, ...tree.conditions.map((node) => (isTree(node) ? levelsOf(node) : 0)));

/** Only the size: the module that knows fields and operators checks all else, with the path of each fault. */
export const conditionTree = named(
  'GroupConditions',
  Joi.object<ConditionTree>()
    .unknown()
    .custom((value: object, helpers) =>
      Buffer.byteLength(JSON.stringify(value)) <= MOST_BYTES ? value : helpers.error('object.maxBytes'),
    )
    .messages({ 'object.maxBytes': `{{#label}} must have at most ${MOST_BYTES} bytes of JSON` })
    .meta({ maxBytes: MOST_BYTES })
    .description(
      `{ operator, conditions } as in saved filters, with at most ${MOST_LEVELS} levels and ${MOST_CONDITIONS} conditions; ` +
        'groupId is not among the fields',
    ),
);

/**
 * The tree without the conditions that `loose` names, each taken as true: what may match once they change. Null when
 * that is everything.
 */
export function loosened(tree: ConditionTree, loose: (field: string) => boolean): ConditionTree | null {
  const parts = tree.conditions.map((node) => (isTree(node) ? loosened(node, loose) : loose(node.field) ? null : node));
  const kept = parts.filter((part) => part !== null);
  if (tree.operator === 'OR' ? kept.length < parts.length : kept.length === 0) return null;
  return { operator: tree.operator, conditions: kept };
}
