/** The slot `custom-fields.store`: whoever keeps values of custom fields says how to count and strip them. */
import type { Context } from '#core';

export interface FieldPlace {
  fieldKey: string;
  /** The organizations whose values are meant; the store must not look beyond them. */
  orgIds: readonly string[];
}
export interface ValueStore {
  /** Removes the key from at most `limit` rows; returns how many it had. Called again until fewer come back. */
  stripKey(ctx: Context, place: FieldPlace & { limit: number }): Promise<number>;
  /** How many rows hold a value; with `among`, one of these texts. */
  countKey(ctx: Context, place: FieldPlace & { among?: readonly string[] }): Promise<number>;
  /** Different values and how many rows of each type of device hold them; null where there are more than `most`. */
  values(ctx: Context, place: FieldPlace & { most: number }): Promise<HeldValue[] | null>;
  /** Writes texts in place of others in at most `limit` rows; returns in how many. Called again until fewer come back. */
  mapValues(ctx: Context, place: FieldPlace & { mapTo: Record<string, string>; limit: number }): Promise<number>;
}
export interface HeldValue {
  value: unknown;
  osType: string;
  count: number;
}

/** The slot `custom-fields.references`: whoever names fields in rules of its own says which do. */
export interface FieldReferences {
  find(ctx: Context, place: FieldPlace): Promise<FieldReference[]>;
}
export interface FieldReference {
  type: 'filter' | 'device_group' | 'automation' | 'policy' | 'report';
  id: string;
  name: string;
}
