/** The types of fields and the operators of each. */
import type { Operator } from '../models/condition.ts';
import type { FieldType, FilterField } from '../models/field.ts';
import type { AnyKind } from './kind.ts';
import { array } from './lists.ts';
import { boolean, number } from './numbers.ts';
import { choice, string, uuid } from './texts.ts';
import { date, datetime } from './times.ts';

export const KINDS: Record<FieldType, AnyKind> = {
  string,
  enum: choice,
  uuid,
  number,
  boolean,
  date,
  datetime,
  array,
};

export const operatorsOf = (field: FilterField): readonly Operator[] => field.operators ?? KINDS[field.type].operators;
