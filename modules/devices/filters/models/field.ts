/** The slot `filters.field`: what can be asked of a device, and the SQL that answers. */
import type { Context } from '#core';
import type { Operator } from './condition.ts';

/** `date` is a day as the text YYYY-MM-DD; `array` is text[]. */
export type FieldType = 'string' | 'number' | 'boolean' | 'enum' | 'date' | 'datetime' | 'array' | 'uuid';

/** A table beside `devices d`. It must give one row a device (`left join` where there may be none). */
export interface Join {
  alias: string;
  sql: string;
}
/**
 * The devices that an index finds; the sign `?` stands for the value, which comes with its type. `within` calls a function
 * that holds itself to the announced organizations and gives a column `device_id`, and `place` too where `places` says so
 * (modules/devices/devices/migrations/001-devices.sql). `everywhere` is a query for ids, for work that reaches all organizations; without it
 * such work uses the field's own SQL, where no policy keeps an index from it.
 */
export interface Search {
  within: string;
  places?: boolean;
  everywhere?: string;
}

/** One field. It has either `value` or `rows`. SQL here is the module's own text: nothing of a caller's may be in it. */
export interface FilterField {
  key: string;
  type: FieldType;
  /** SQL over `d` and the joins: text, numeric, boolean, timestamptz, uuid or text[], as the type says. */
  value?: string;
  /** Where a device has many values: `from` with a column that holds the device's id, and the value. */
  rows?: { from: string; device: string; value: string };
  joins?: readonly Join[];
  /** When not all that the type allows (operators/index.ts). */
  operators?: readonly Operator[];
  /** All values of an enum. */
  values?: readonly string[];
  /** True where the condition asks for devices that have no such row (`software.notInstalled`). */
  absent?: boolean;
  /** By operator; `contains`, `startsWith` and `endsWith` are one search, `like`, for a pattern. */
  searches?: Partial<Record<'like' | 'equals' | 'hasAny' | 'hasAll', Search>>;
  /** Brings a value into the form that is stored. */
  normalise?(text: string): string;
  /** Only devices of these have the field; conditions on it are false for all others. */
  only?: { orgIds?: readonly string[]; partnerIds?: readonly string[] };
  /** Of these only devices of organizations for which the field's module is on; everywhere when absent. */
  onFor?: readonly string[];
  /** Changes with most heartbeats: a rule that uses it is looked at again from time to time, not after each change. */
  volatile?: boolean;
  /** Changes by itself as time goes by. */
  clock?: boolean;
  /** The value of an enum that stands for removed devices: these stay out unless a condition asks for it. */
  removed?: string;
}

/** Fills `filters.field`: fields known in advance, and families of which only the keys that a tree names are looked up. */
export interface FieldSource {
  fields?: readonly FilterField[];
  family?: {
    /** Ends in a dot. */
    prefix: string;
    /**
     * The fields for these keys (the prefix taken off) in these organizations; null means all. A key that organizations
     * define differently has several, each with its `only`.
     */
    resolve(
      ctx: Context,
      keys: readonly string[],
      orgIds: readonly string[] | null,
    ): Promise<ReadonlyMap<string, readonly FilterField[]>>;
  };
}
