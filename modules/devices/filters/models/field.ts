/** The slot `filters.field`: fields of devices that conditions can use, and the SQL that reads them. */
import type { Context } from '#core';
import type { Operator } from './condition.ts';

/** `date` is a day as the text YYYY-MM-DD; `array` is text[]. */
export type FieldType = 'string' | 'number' | 'boolean' | 'enum' | 'date' | 'datetime' | 'array' | 'uuid';

/** A table besides `devices d`. It must return one row for each device (`left join` where there may be none). */
export interface Join {
  alias: string;
  sql: string;
}
/**
 * The devices that an index finds; `?` stands for the value with its type. `within` calls a function that is limited to the
 * organizations of the caller and returns a column `device_id`, and also `place` (the ctid of the row) if `places` is set
 * (modules/devices/devices/migrations/001-devices.sql). `everywhere` is a query for ids, for callers who reach all organizations.
 * Without it the SQL of the field is used for them: row-level security does not keep it from its index.
 */
export interface Search {
  within: string;
  places?: boolean;
  everywhere?: string;
  /** A value that the search does not find, so that rows are compared one by one. */
  except?: unknown;
}

/** One field. It has either `value` or `rows`. Its SQL is text of the module and never contains input of a caller. */
export interface FilterField {
  key: string;
  type: FieldType;
  /** SQL over `d` and the joins: text, numeric, boolean, timestamptz, uuid or text[], according to the type. */
  value?: string;
  /** For a field with many values for each device: `from` with a column that has the device's id, and the value. */
  rows?: { from: string; device: string; value: string };
  joins?: readonly Join[];
  /** The operators, if not all of the type (operators/index.ts). */
  operators?: readonly Operator[];
  /**
   * For `rows`: the values that the caller may know, null for all of them. The others count as absent, so that no condition
   * tells which of them a device has.
   */
  known?(ctx: Context): Promise<readonly string[] | null>;
  /** All values of an enum. */
  values?: readonly string[];
  /** True for conditions about devices that have no such row (`software.notInstalled`). */
  absent?: boolean;
  /** Searches by operator; `contains`, `startsWith` and `endsWith` share the search `like`, which takes a pattern. */
  searches?: Partial<Record<'like' | 'equals' | 'hasAny' | 'hasAll', Search>>;
  /** Converts a value to its stored form. */
  normalise?(text: string): string;
  /** Only devices of these organizations and partners have the field; conditions on it are false for all others. */
  only?: { orgIds?: readonly string[]; partnerIds?: readonly string[] };
  /** Limits the field to organizations for which its module is on; all organizations when absent. */
  onFor?: readonly string[];
  /** Changes with most heartbeats: a rule that uses it is evaluated periodically, not after each change. */
  volatile?: boolean;
  /** Changes with time, without any write. */
  clock?: boolean;
  /** The value of an enum for removed devices, which are left out unless a condition names it. */
  removed?: string;
}

/** A field as a caller has it: `among` are the values that it may know, when they are not all. */
export interface CallerField extends FilterField {
  among?: readonly string[];
}

/** Contribution to `filters.field`: fixed fields, and families of fields, of which only the keys in a tree are looked up. */
export interface FieldSource {
  fields?: readonly FilterField[];
  family?: {
    /** Ends in a dot. */
    prefix: string;
    /**
     * The fields for these keys (without the prefix) in these organizations; null means all. A key that organizations define
     * differently has several fields, each with its `only`.
     */
    resolve(
      ctx: Context,
      keys: readonly string[],
      orgIds: readonly string[] | null,
    ): Promise<ReadonlyMap<string, readonly FilterField[]>>;
  };
}
