/** Checks variables by their rules; the only code that reads the environment is here and in `index.ts`. */
import Joi from 'joi';
import type { Rules, ValuesOf } from './rules.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown when the environment is not usable; `faults` has every fault, the message one per line. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/** Without variables that are empty: Compose files and .env files give unset variables as empty strings. */
export const givenOf = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value.trim() !== ''));

/** The values of the variables that the rules name, and every fault: its variable's name and what is wrong, never the value. */
export function check<R extends Rules>(rules: R, given: Environment): { values: ValuesOf<R>; faults: string[] } {
  const { value, error } = Joi.object(rules as Record<string, Joi.Schema>).validate(given, {
    abortEarly: false,
    stripUnknown: true,
    errors: { label: false },
  });
  const faults = (error?.details ?? []).map((detail) => `${detail.path.join('.')}: ${detail.message}`);
  return { values: value as ValuesOf<R>, faults };
}
