/** Modules as their manifests declare them. */
import { type Context, dependenciesOf, dependentsOf, errors, type Module, type ModuleLevel } from '#core';

const LEVELS: readonly ModuleLevel[] = ['instance', 'partner', 'organization'];

export const levelsOf = ({ core, levels }: Module): readonly ModuleLevel[] => (core ? [] : (levels ?? LEVELS));

export function mustExist(ctx: Context, key: string): Module {
  const module = ctx.services.modules.all.find(({ name }) => name === key);
  if (!module) throw errors.NotFound({ message: 'Module not found', details: [{ in: 'params', path: 'key' }] });
  return module;
}

const optional = (ctx: Context, keys: readonly string[]) =>
  keys.filter((key) => !ctx.services.modules.all.find(({ name }) => name === key)?.core);

/** The switchable modules that it requires, dependencies first. */
export const dependencies = (ctx: Context, key: string) => optional(ctx, dependenciesOf(ctx.services.modules.all, key));

/** The modules that require it, dependencies first. */
export const dependents = (ctx: Context, key: string) => dependentsOf(ctx.services.modules.all, key);
