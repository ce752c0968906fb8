/** What modules contribute to each other's slots, without the modules that are off. */
import type { Scope } from '../context/index.ts';
import type { Contribution, KnownEvent, KnownSlot, Module, ModulePlace } from '../contract/index.ts';
import { offFor, orgsWith } from './gate.ts';
import type { ModuleStates } from './states.ts';

export interface Contributions {
  /** Without a scope, those of all modules. */
  contributions(slot: string, scope?: Scope, orgId?: string): readonly unknown[];
  /** The reached organizations for which the contribution's module is on; null for all of them. */
  orgsOf(contribution: unknown, scope: Scope): readonly string[] | null;
  /** Whether the module that declares the event is on there. */
  emits(event: string, where: ModulePlace): boolean;
  event(name: string): KnownEvent | undefined;
  /** Of modules that are on in the scope or, when it is given, for the organization. */
  events(scope: Scope, orgId?: string): readonly KnownEvent[];
}
export type Given = readonly {
  module: Module;
  contributions: readonly { value: Contribution }[];
  slots: readonly KnownSlot[];
  events: readonly KnownEvent[];
}[];

/** @param given every module with its contributions, in the order in which they are called */
export function openContributions(given: Given, states: ModuleStates): Contributions {
  const opened = given.flatMap(({ slots }) => slots);
  const steady = new Set(opened.flatMap(({ name, definition }) => (definition.steady ? [name] : [])));
  const bySlot = new Map<string, object[]>();
  const moduleOf = new WeakMap<object, string>();
  const always = new WeakSet<object>();
  for (const { module, contributions } of given) {
    for (const { slot, value } of contributions.map((found) => found.value)) {
      bySlot.set(slot, [...(bySlot.get(slot) ?? []), value]);
      moduleOf.set(value, module.name);
      if (steady.has(slot)) always.add(value);
    }
  }
  const definitions = given.flatMap(({ events }) => events);
  const byName = new Map(definitions.map((known) => [known.name, known]));
  const isOn = (module: string, scope: Scope, orgId?: string) =>
    orgId === undefined ? !offFor(states, module, scope) : !states.off(module, { orgId });
  return {
    contributions(slot, scope, orgId) {
      const list = bySlot.get(slot) ?? [];
      if (states.switched.size === 0) return list;
      return list.filter((value) => {
        const module = moduleOf.get(value) ?? '';
        // Contributions to steady slots stay where their module is off, but not where the module is faulty.
        if (always.has(value) || !scope) return states.works(module);
        return isOn(module, scope, orgId);
      });
    },
    emits: (event, where) => !states.off(byName.get(event)?.module ?? '', where),
    event: (name) => byName.get(name),
    events(scope, orgId) {
      if (states.switched.size === 0) return definitions;
      return definitions.filter(({ module }) => isOn(module, scope, orgId));
    },
    orgsOf(contribution, scope) {
      const module = moduleOf.get(contribution as object);
      return module === undefined || always.has(contribution as object) ? null : orgsWith(states, module, scope);
    },
  };
}
