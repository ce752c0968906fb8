/** Variables that belong to one module: declared in its `variables.ts`, read here. */
import { ConfigError, check, type Environment, givenOf } from './environment.ts';
import type { Rules, ValuesOf } from './rules.ts';
import { type Config, ENVIRONMENT } from './types.ts';

/** The variables of a module, and the settings that they give. */
export interface ModuleVariables<T> {
  readonly names: readonly string[];
  /** Every fault in the environment that the configuration was read from; the loader throws them all at the start. */
  faults(config: Pick<Config, typeof ENVIRONMENT>): string[];
  /** The settings. Throws ConfigError for faults. */
  of(config: Config): T;
}

interface Reading<R extends Rules, T> {
  /** What the module uses; the values by the names of the variables when absent. */
  read?(values: ValuesOf<R>, config: Config): T;
  /** Faults that concern several variables, found in the given texts: `NAME: what is wrong`. */
  between?(given: Environment): string[];
}

/**
 * Declares the variables of a module by their rules (`variable.flag(false)`, `variable.number(1, 100, 10)`, …).
 *
 *     export const variables = defineVariables({ TICKET_MAX_OPEN: variable.number(1, 1000, 50) });
 *     variables.of(ctx.services.config).TICKET_MAX_OPEN;
 */
export function defineVariables<R extends Rules, T = ValuesOf<R>>(
  rules: R,
  { read = (values) => values as unknown as T, between = () => [] }: Reading<R, T> = {},
): ModuleVariables<T> {
  const settings = new WeakMap<object, T>();
  const examine = (env: Environment) => {
    const given = givenOf(env);
    const { values, faults } = check(rules, given);
    return { values, faults: [...faults, ...between(given)] };
  };
  return {
    names: Object.keys(rules),
    faults: (config) => examine(config[ENVIRONMENT]).faults,
    of(config) {
      const known = settings.get(config);
      if (known !== undefined) return known;
      const { values, faults } = examine(config[ENVIRONMENT]);
      if (faults.length > 0) throw new ConfigError(faults);
      const made = read(values, config);
      settings.set(config, made);
      return made;
    },
  };
}
