/** Which modules stand on which. */
import type { Module } from '../contract/index.ts';

/** Everything that it requires, directly or through others; what others require comes first. */
export function dependenciesOf(modules: readonly Module[], name: string): string[] {
  const wanted = new Set([name]);
  for (const module of modules.toReversed()) {
    if (wanted.has(module.name)) for (const needed of module.requires) wanted.add(needed);
  }
  return modules.map((module) => module.name).filter((one) => one !== name && wanted.has(one));
}

/** Everything that requires it, directly or through others; what others require comes first. */
export function dependentsOf(modules: readonly Module[], name: string): string[] {
  const found = new Set([name]);
  for (const module of modules) if (module.requires.some((needed) => found.has(needed))) found.add(module.name);
  found.delete(name);
  return [...found];
}
