/** The columns of a table, declared once: the row's type, the model's fields, and the schemas of inputs and answers follow. */
import Joi from 'joi';
import { Model } from './model.ts';

/** A column: what callers may write into it, and what answers show of it. */
export interface Column<T> {
  readonly input: Joi.Schema;
  readonly answer: Joi.Schema;
  /** Never set; carries the type of the values. */
  readonly type?: T;
}
// biome-ignore lint/suspicious/noExplicitAny: a table has columns of every type
type Columns = Readonly<Record<string, Column<any>>>;

type Values<C> = { -readonly [K in keyof C]: C[K] extends Column<infer T> ? T : never };
/** The type of a table's rows: `RowOf<typeof sites>`. */
export type RowOf<T> = T extends Table<infer C> ? Values<C> : never;

/** A column with one schema for what is written and what is shown. */
function plain<T>(schema: Joi.Schema): Column<T> {
  return { input: schema, answer: schema };
}

/** Kinds of columns. `input` may be stricter than what answers promise: limits on writing are no promise about old rows. */
export const column = {
  uuid: (): Column<string> => plain(Joi.string().uuid()),
  /** Text that callers write under the rules of `input`; without it, text that only the server writes. */
  text: (input: Joi.StringSchema = Joi.string()): Column<string> => ({ input, answer: Joi.string() }),
  /** One of these words. */
  oneOf: <V extends string>(...values: readonly V[]): Column<V> => plain(Joi.string().valid(...values)),
  boolean: (): Column<boolean> => plain(Joi.boolean()),
  number: (input: Joi.NumberSchema = Joi.number()): Column<number> => ({ input, answer: Joi.number() }),
  integer: (input: Joi.NumberSchema = Joi.number().integer()): Column<number> => ({
    input,
    answer: Joi.number().integer(),
  }),
  time: (): Column<Date> => plain(Joi.date().iso()),
  /** A JSON object of any shape. */
  object: <T extends object = Record<string, unknown>>(input: Joi.Schema = Joi.object().unknown()): Column<T> => ({
    input,
    answer: Joi.object().unknown(),
  }),
  /** Anything else, by its schemas. */
  of: <T>(input: Joi.Schema, answer: Joi.Schema = input): Column<T> => ({ input, answer }),
  /** The column may be null, in inputs and in answers. */
  nullable: <T>({ input, answer }: Column<T>): Column<T | null> => ({
    input: input.allow(null),
    answer: answer.allow(null),
  }),
};

/** What a request body holds after validation: `InputOf<typeof siteCreate>`. */
export type InputOf<S> = S extends Joi.ObjectSchema<infer T> ? T : never;
type Inputs<C, K extends keyof C, R extends keyof C> = Pick<Values<C>, K & R> & Partial<Pick<Values<C>, Exclude<K, R>>>;

export interface InputOptions<C, R extends keyof C, D extends keyof C> {
  /** Columns that a caller must give; all others may be left out. */
  required?: readonly R[];
  /** What stands in for a column that the caller left out. */
  defaults?: { readonly [key in D]: Values<C>[key] };
}

export interface Table<C extends Columns> {
  readonly columns: C;
  /** The schema of a request body that writes these columns. */
  input<K extends keyof C & string, R extends K = never, D extends K = never>(
    names: readonly K[],
    options?: InputOptions<C, R, D>,
  ): Joi.ObjectSchema<Inputs<C, K, R | D>>;
  /** The schema of an answer with these columns, or with all of them. Each is present in every answer. */
  answer(names?: readonly (keyof C & string)[]): Joi.ObjectSchema;
  /** The base class of the table's model: its fields are the columns. */
  readonly Model: Omit<typeof Model, 'prototype'> & (new () => Model & Values<C>);
}

/**
 * Declares the columns of a table.
 *
 *     const notes = defineTable('notes', { id: column.uuid(), text: column.text(Joi.string().max(2000)), … });
 *     export class Note extends notes.Model { static override deviceColumn = 'device_id'; }
 *     export const noteCreate = named('NoteCreate', notes.input(['text'], { required: ['text'] }));
 *     export const noteShape = named('Note', notes.answer());
 */
export function defineTable<C extends Columns>(tableName: string, columns: C): Table<C> {
  class Base extends Model {
    static override tableName = tableName;
  }
  return {
    columns,
    input(names, { required = [], defaults } = {}) {
      const given = (defaults ?? {}) as Readonly<Record<string, Joi.BasicType>>;
      const mustBeGiven: readonly string[] = required;
      const schemas = names.map((name): [string, Joi.Schema] => {
        const { input } = columns[name] as Column<unknown>;
        if (mustBeGiven.includes(name)) return [name, input.required()];
        return [name, name in given ? input.default(given[name]) : input];
      });
      return Joi.object(Object.fromEntries(schemas));
    },
    answer(names = Object.keys(columns)) {
      const schemas = names.map((name) => [name, (columns[name] as Column<unknown>).answer.required()]);
      return Joi.object(Object.fromEntries(schemas));
    },
    Model: Base as unknown as Table<C>['Model'],
  };
}
