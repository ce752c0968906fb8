/** Schemas with names: what a module's manifest names stands once in the document, and wherever it is used is a reference. */
import Joi from 'joi';
import { loginAnswer, tokensShape } from '../../auth/login-answer.ts';
import type { Module } from '../../contract/index.ts';
import { pagination } from '../paging.ts';
import { type Direction, type Json, type JsonSchema, jsonSchema } from './json-schema.ts';

/** What answers of all modules are made of. */
const CORE: Record<string, Joi.Schema> = {
  LoginAnswer: loginAnswer,
  Pagination: pagination,
  Success: Joi.object({ success: Joi.boolean().required() }),
  Tokens: tokensShape,
};

/** A schema without what is said of it where it is used: its description there, and whether it may be null. */
function bare({ description: _, ...schema }: JsonSchema): { text: string; nullable: boolean } {
  const { type } = schema;
  if (!Array.isArray(type) || !type.includes('null')) return { text: JSON.stringify(schema), nullable: false };
  const [only, ...others] = type.filter((one) => one !== 'null');
  return { text: JSON.stringify({ ...schema, type: others.length > 0 ? [only, ...others] : only }), nullable: true };
}

/** Texts and numbers are written where they are. */
const isNameable = (schema: JsonSchema) => 'properties' in schema || 'anyOf' in schema || 'patternProperties' in schema;
const NAMELESS = { text: '', nullable: false };
const place = (name: string) => `#/components/schemas/${name}`;
const said = ({ description }: JsonSchema) => (description ? { description } : {});

/** Where a schema has defaults it reads differently as input and as output; one that is used as both is `<Name>Input` too. */
export class NamedSchemas {
  /** By module, as each names its own; a text that two of them share has two names. */
  readonly #names = new Map<string, Map<string, string>>();
  readonly #core = new Map<string, string>();
  readonly #schemas = new Map<string, { module: string | null; schema: JsonSchema; inputOf?: string }>();
  readonly #refs = new Map<string, { $ref: string }[]>();
  readonly #used = new Map<string, Json>();

  constructor(modules: readonly Module[]) {
    for (const [name, schema] of Object.entries(CORE)) this.#name(null, name, schema);
    for (const { name: module, schemas = {} } of modules) {
      for (const [name, schema] of Object.entries(schemas)) this.#name(module, name, schema);
    }
  }

  #name(module: string | null, name: string, schema: Joi.Schema): void {
    const names = module === null ? this.#core : (this.#names.get(module) ?? new Map<string, string>());
    if (module !== null) this.#names.set(module, names);
    const forms: [string, Direction][] = [
      [name, 'output'],
      [`${name}Input`, 'input'],
    ];
    for (const [as, direction] of forms) {
      const made = jsonSchema(schema, direction);
      const { text } = bare(made);
      if (direction === 'input' && names.has(text)) continue;
      if (this.#schemas.has(as)) throw new Error(`two schemas are named ${as}; one of them by ${module ?? 'the core'}`);
      names.set(text, as);
      const inputOf = direction === 'input' ? { inputOf: name } : {};
      this.#schemas.set(as, { module, schema: JSON.parse(text) as JsonSchema, ...inputOf });
    }
  }

  /** The JSON Schema of a part of a module's route, with references to what has a name. */
  write(module: string, schema: Joi.Schema, direction: Direction): JsonSchema {
    return this.#referring(module, jsonSchema(schema, direction)) as JsonSchema;
  }

  #referring(module: string | null, value: unknown, top = false): unknown {
    if (Array.isArray(value)) return value.map((one) => this.#referring(module, one));
    if (value === null || typeof value !== 'object') return value;
    const schema = value as JsonSchema;
    const { text, nullable } = top || !isNameable(schema) ? NAMELESS : bare(schema);
    const name = (module && this.#names.get(module)?.get(text)) ?? this.#core.get(text);
    if (!name) {
      return Object.fromEntries(Object.entries(schema).map(([key, inner]) => [key, this.#referring(module, inner)]));
    }
    this.#use(name);
    const reference = { $ref: place(name) };
    this.#refs.set(name, [...(this.#refs.get(name) ?? []), reference]);
    if (nullable) return { ...said(schema), anyOf: [reference, { type: 'null' }] };
    return Object.assign(reference, said(schema));
  }

  #use(name: string): void {
    const known = this.#schemas.get(name);
    if (!known || this.#used.has(name)) return;
    // Before its own parts are written: a schema may hold itself.
    this.#used.set(name, {});
    this.#used.set(name, this.#referring(known.module, known.schema, true) as Json);
  }

  /** `components.schemas`, once all has been written: those that something refers to, by name. */
  used(): Record<string, Json> {
    for (const [name, refs] of [...this.#refs]) {
      const plain = this.#schemas.get(name)?.inputOf;
      if (!plain || this.#refs.has(plain)) continue;
      for (const one of refs) one.$ref = place(plain);
      this.#used.set(plain, this.#used.get(name) ?? {});
      this.#used.delete(name);
    }
    return Object.fromEntries([...this.#used].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
