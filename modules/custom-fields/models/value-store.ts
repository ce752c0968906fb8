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
  /** How many rows hold a value. */
  countKey(ctx: Context, place: FieldPlace): Promise<number>;
}
