/** Whether a queue may send for a tenant at this moment: not where its module is switched off. */
import type { ModuleDirectory } from '../contract/index.ts';

/** Reads where the module is off each time that it is asked. */
export interface Gate {
  /** Organizations and partners for which nothing is sent; null where nothing is sent at all. */
  closed(): readonly string[] | null;
  /** False until the switches could be read: nothing is sent then, and nothing is given up. */
  known(): boolean;
}

export function gateOf(
  modules: Pick<ModuleDirectory, 'off' | 'orgsWithout' | 'partnersWithout'>,
  module: string,
): Gate {
  return {
    known: () => modules.off(module, {}) !== 'unknown',
    closed() {
      if (modules.off(module, {})) return null;
      const [orgs, partners] = [modules.orgsWithout(module), modules.partnersWithout(module)];
      return partners.length === 0 ? orgs : [...orgs, ...partners];
    },
  };
}

/** The organization and partner of a claimed message, as far as it has them. */
export interface OfTenants {
  tenants: readonly string[];
}

export function isPaused(gate: Gate, { tenants }: OfTenants): boolean {
  const closed = gate.closed();
  return closed === null || (closed.length > 0 && tenants.some((tenant) => closed.includes(tenant)));
}
