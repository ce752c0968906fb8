/** What a scope may do with a module: nothing, all it reaches, or only the organizations for which the module is on. */
import type { Scope } from '../context/index.ts';
import type { ModuleDirectory } from '../contract/index.ts';
import { ModuleDisabled, moduleOffHere } from '../errors.ts';

type Switched = Pick<ModuleDirectory, 'off'> & { readonly switched: ReadonlySet<string> };

const partnerAbove = ({ kind, partnerId, ownerPartnerId }: Scope) => (kind === 'partner' ? partnerId : ownerPartnerId);

/** How a list of organizations is divided by a module. */
interface Division {
  kept: readonly string[];
  left: readonly string[];
  /** Why it is off for the last of them, where it is off for all. */
  reason: string | null;
}
interface Known {
  /** The set is another one after every reading. */
  of: ReadonlySet<string>;
  byModule: Map<string, Division>;
}

/** Lists belong to callers that are remembered for a second: the next request of a large partner finds the work done. */
const known = new WeakMap<readonly string[], Known>();

function divide(modules: Switched, module: string, scope: Scope, orgIds: readonly string[]): Division {
  let memory = known.get(orgIds);
  if (memory?.of !== modules.switched) {
    memory = { of: modules.switched, byModule: new Map() };
    known.set(orgIds, memory);
  }
  const found = memory.byModule.get(module);
  if (found) return found;
  const partnerId = partnerAbove(scope);
  const kept: string[] = [];
  const left: string[] = [];
  let reason: string | null = null;
  for (const orgId of orgIds) {
    const off = modules.off(module, { partnerId, orgId });
    (off ? left : kept).push(orgId);
    reason = off ?? reason;
  }
  const made = { kept: left.length === 0 ? orgIds : kept, left, reason };
  memory.byModule.set(module, made);
  return made;
}

/** Why the module is off wherever the scope reaches; null where it is on for some of it. */
export function offFor(modules: Switched, module: string, scope: Scope): string | null {
  if (!modules.switched.has(module)) return null;
  const above = modules.off(module, { partnerId: partnerAbove(scope) });
  if (above || scope.orgIds === null || scope.orgIds.length === 0) return above;
  const { kept, reason } = divide(modules, module, scope, scope.orgIds);
  return kept.length > 0 ? null : reason;
}

/** Those of the reached organizations for which the module is on; null when it is on for all of them. */
export function orgsWith(modules: Switched, module: string, scope: Scope): readonly string[] | null {
  if (!modules.switched.has(module) || scope.orgIds === null) return null;
  const { kept, left } = divide(modules, module, scope, scope.orgIds);
  return left.length === 0 ? null : kept;
}

/**
 * Throws 404 where the installation has switched the module off: it is as if it were not there.
 * @param orgId the organization that the path of a public route names, for which the same holds
 */
export function mustBeInstalled(modules: Switched, module: string, orgId: string | null = null): void {
  if (!modules.switched.has(module)) return;
  const reason = modules.off(module, { orgId });
  if (reason) throw ModuleDisabled({ details: [{ module, reason }] });
}

/** The scope within which a request to the module's routes works. Throws 403 where nothing is left of it. */
export function narrowed(modules: Switched, module: string, scope: Scope): Scope {
  if (!modules.switched.has(module)) return scope;
  const reason = offFor(modules, module, scope);
  if (reason) throw moduleOffHere(module, reason);
  if (scope.orgIds === null) return scope;
  const { kept, left } = divide(modules, module, scope, scope.orgIds);
  return left.length === 0 ? scope : { ...scope, orgIds: kept, excluded: { module, orgIds: left } };
}
