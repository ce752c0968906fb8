/** The contributions to `custom-fields.store`: modules that store values of custom fields count, replace and remove them. */
import type { Context } from '#core';

export interface FieldPlace {
  fieldKey: string;
  /** The organizations whose values count; the store must not read others. */
  orgIds: readonly string[];
}
export interface ValueStore {
  /** Removes the key from at most `limit` rows; returns the number of rows. Called again while the batch is full. */
  stripKey(ctx: Context, place: FieldPlace & { limit: number }): Promise<number>;
  /** The number of rows with a value; with `among`, with one of these texts. */
  countKey(ctx: Context, place: FieldPlace & { among?: readonly string[] }): Promise<number>;
  /** Distinct values with the number of rows for each operating system; null if there are more than `most`. */
  values(ctx: Context, place: FieldPlace & { most: number }): Promise<HeldValue[] | null>;
  /** Replaces texts in at most `limit` rows; returns the number of rows. Called again while the batch is full. */
  mapValues(ctx: Context, place: FieldPlace & { mapTo: Record<string, string>; limit: number }): Promise<number>;
}
export interface HeldValue {
  value: unknown;
  osType: string;
  count: number;
}

/** The contributions to `custom-fields.references`: modules whose rules refer to fields list these rules. */
export interface FieldReferences {
  find(ctx: Context, place: FieldPlace): Promise<FieldReference[]>;
  /** The value that devices have without one of their own is another now. */
  defaultChanged?(ctx: Context, place: FieldPlace): Promise<void>;
}
export interface FieldReference {
  type: 'filter' | 'device_group' | 'automation' | 'policy' | 'report';
  id: string;
  name: string;
}
