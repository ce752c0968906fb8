/** Slots: places where modules extend each other or core, and the contributions to them. */
import type { Slots } from './maps.ts';

/** What `slots/<name>.ts` declares. The loader names it `<module>.<path below slots/>`. */
export interface SlotDefinition<T> {
  /** For a slot whose name has another prefix than its module. */
  name?: string;
  /** One line: what contributions do. */
  summary: string;
  /** Contributions count also where their module is off, because they protect data. */
  steady?: true;
  /** Never set; it ties the definition to the type of the contributions. */
  readonly type?: T;
}
export const defineSlot = <T>(slot: SlotDefinition<T>): SlotDefinition<T> => slot;
// biome-ignore lint/suspicious/noExplicitAny: a registry holds slots of every type
export type AnySlot = SlotDefinition<any>;

/** A slot that the loader has found. */
export interface KnownSlot {
  name: string;
  /** The module that opens it; null for core. */
  module: string | null;
  definition: AnySlot;
}

const names = new WeakMap<object, string>();
/** Called by the loader, once a definition. */
export function nameSlot(slot: AnySlot, name: string): void {
  names.set(slot, name);
}
/** Throws for a definition that does not lie in the `slots/` folder of a loaded module. */
export function nameOfSlot(slot: AnySlot): string {
  const name = names.get(slot);
  if (name === undefined) throw new Error(`the slot "${slot.summary}" is not in the slots/ folder of a module`);
  return name;
}

export interface Contribution<S extends keyof Slots = keyof Slots> {
  slot: S;
  value: Slots[S];
}
/** What `fills/<slot>.ts` declares. */
export const defineContribution = <S extends keyof Slots>(slot: S, value: Slots[S]): Contribution =>
  ({ slot, value }) as Contribution;
