/** Which other switches change with one switch, and what forbids the change. */
import { type Context, errors, type Module, type ModuleLevel } from '#core';
import { DependencyDisabled, DisabledAbove, NotInPlan } from '../errors.ts';
import type { SwitchOwner, Turn } from '../models/switch.ts';
import { whereOf } from './places.ts';
import { dependencies, dependents } from './registry.ts';

/** The reasons that a switch at this level removes. */
const OWN: Record<ModuleLevel, readonly string[]> = {
  instance: ['disabled_by_instance'],
  partner: ['disabled_by_partner', 'plan', 'default', 'trial_ended'],
  organization: ['disabled_by_org'],
};

/** The modules that require it and are on there. */
export const effectiveDependents = (ctx: Context, key: string, place: SwitchOwner): string[] =>
  dependents(ctx, key).filter((name) => !ctx.services.modules.off(name, whereOf(place)));

/** The modules to switch off, the named one last. Throws HAS_DEPENDENTS with their keys unless `cascade` is set. */
export function toSwitchOff(ctx: Context, key: string, place: SwitchOwner, { cascade }: Turn): string[] {
  const keys = effectiveDependents(ctx, key, place);
  if (keys.length > 0 && !cascade)
    throw errors.HasDependents({ message: 'Other modules require this one', details: [{ keys }] });
  return [...keys.toReversed(), key];
}

/** The modules to switch on, the named one last. Throws DISABLED_ABOVE, NOT_IN_PLAN, DEPENDENCY_DISABLED with the missing ones. */
export async function toSwitchOn(ctx: Context, { name }: Module, place: SwitchOwner, turn: Turn): Promise<string[]> {
  const { modules } = ctx.services;
  const missing = dependencies(ctx, name).filter((key) => modules.off(key, whereOf(place)));
  const wanted = [...missing, name];
  const turns = (key: string) => {
    const reason = modules.off(key, whereOf(place));
    return !reason || OWN[place.level].includes(reason) || wanted.includes(reason.replace('dependency:', ''));
  };
  const stuck = missing.filter((key) => !turns(key));
  if (missing.length > 0 && (!turn.enableDependencies || stuck.length > 0)) {
    throw DependencyDisabled({ details: [{ missing: turn.enableDependencies ? stuck : missing }] });
  }
  const reason = modules.off(name, whereOf(place));
  if (!turns(name)) throw DisabledAbove({ details: [{ reason }] });
  if (place.level === 'partner') await mustBeInPlan(ctx, place, wanted);
  return wanted;
}

/** Only the operator may exceed the plan; a trial that is still running was granted by an operator. */
async function mustBeInPlan(ctx: Context, { partnerId }: SwitchOwner, keys: readonly string[]): Promise<void> {
  if (ctx.scope.kind === 'system') return;
  const { rows } = await ctx.sql<{ plan: string; given: string[] }>(
    `select plan, array(select key from tenant_modules where partner_id = $1 and org_id is null
       and (expires_at > now() or (source <> 'trial' and enabled))) as given
     from partners where id = $1`,
    [partnerId],
  );
  const { plan = '', given = [] } = rows[0] ?? {};
  const beyond = keys.filter((key) => !given.includes(key) && !ctx.services.modules.inPlan(key, plan));
  if (beyond.length > 0) throw NotInPlan({ details: [{ plan, modules: beyond }] });
}
