/** Switching a module at one of the three levels, with audit entry and follow-up job. */
import { type Context, errors, MODULES_NOTICE, type Module } from '#core';
import { CoreModule, LockedByInstance } from '../errors.ts';
import type { SwitchOwner, Turn } from '../models/switch.ts';
import { whereOf } from './places.ts';
import { toSwitchOff, toSwitchOn } from './plans.ts';
import { levelsOf, mustExist } from './registry.ts';
import { forgetTenant, switchesOf, takeTurn, writeInstance, writeTenant } from './stored.ts';

const INSTANCE: SwitchOwner = { level: 'instance', partnerId: null, orgId: null };

function mustBeSwitchable(module: Module, { level }: SwitchOwner): void {
  if (module.core) throw CoreModule();
  if (levelsOf(module).includes(level)) return;
  throw errors.ValidationFailed({
    message: `This module is not switched for one ${level}`,
    details: [{ path: 'key' }],
  });
}

/** Throws the errors of this module. Setting the current value changes nothing and records no audit entry. */
export async function turn(ctx: Context, place: SwitchOwner, key: string, say: Turn) {
  const module = mustExist(ctx, key);
  mustBeSwitchable(module, place);
  mustNotGiveTrial(ctx, say);
  await takeTurn(ctx);
  await mustNotBeLocked(ctx, place, key);
  const on = say.enabled !== false;
  const keys = on ? await toSwitchOn(ctx, module, place, say) : toSwitchOff(ctx, key, place, say);
  const changed: string[] = [];
  for (const one of keys) if (await write(ctx, place, one, key, say)) changed.push(one);
  if (changed.length === 0) ctx.unchanged();
  else ctx.notify(MODULES_NOTICE, '*');
  const row = (await switchesOf(ctx, place)).get(key);
  const off = on && row === undefined ? ctx.services.modules.off(key, { partnerId: place.partnerId }) : null;
  const enabled = on && off === null;
  return {
    data: {
      key,
      level: place.level,
      enabled,
      reason: enabled ? null : (off ?? OFF[place.level]),
      note: row?.reason ?? null,
      locked: row?.locked === true || ctx.services.modules.locked(key),
      updatedBy: row?.updatedBy ?? null,
      updatedAt: row?.updatedAt ?? null,
      changed,
    },
  };
}

const OFF = {
  instance: 'disabled_by_instance',
  partner: 'disabled_by_partner',
  organization: 'disabled_by_org',
} as const;

/** Locks do not apply to operators. */
async function mustNotBeLocked(ctx: Context, { level }: SwitchOwner, key: string): Promise<void> {
  if (level === 'instance' || ctx.scope.kind === 'system') return;
  if ((await switchesOf(ctx, INSTANCE)).get(key)?.locked) throw LockedByInstance({ details: [{ module: key }] });
}

function mustNotGiveTrial({ scope }: Context, { enabled, trialDays }: Turn): void {
  if (trialDays === undefined) return;
  if (scope.kind !== 'system') throw errors.Forbidden('Only the operator grants trials');
  if (enabled) return;
  throw errors.ValidationFailed({
    message: 'A trial must be switched on',
    details: [{ in: 'payload', path: 'trialDays' }],
  });
}

/** Writes one row, its audit entry, and the follow-up job. */
async function write(ctx: Context, place: SwitchOwner, key: string, asked: string, say: Turn): Promise<boolean> {
  const enabled = say.enabled !== false;
  const { locked, reason, trialDays } = say;
  const written =
    place.level === 'instance'
      ? await writeInstance(ctx, key, key === asked ? { enabled, locked, reason } : { enabled, reason })
      : say.enabled === null && key === asked
        ? await forgetTenant(ctx, place, key)
        : await writeTenant(ctx, place, key, { enabled, reason, trialDays });
  if (!written) return false;
  ctx.audit(enabled ? 'module.enable' : 'module.disable', {
    ...whereOf(place),
    resourceType: 'module',
    resourceName: key,
    details: {
      key,
      level: place.level,
      ...(key === asked ? {} : { with: asked }),
      ...(say.enabled === null ? { inherit: true } : {}),
      ...(reason ? { reason } : {}),
      ...(locked === undefined ? {} : { locked }),
      ...(trialDays === undefined ? {} : { trialDays }),
    },
  });
  ctx.addJob('features/follow-switch', { key, ...whereOf(place), enabled }, { orgId: null });
  return true;
}
