/** A preview of what switching a module off would affect. */
import { type Context, errors, type ModuleLevel } from '#core';
import { CoreModule } from '../errors.ts';
import type { SwitchOwner } from '../models/switch.ts';
import { liveSessionsOf, objectsOf, pendingJobsOf, waitingCommandsOf } from './counts.ts';
import { organizationPlace, partnerPlace, whereOf } from './places.ts';
import { effectiveDependents } from './plans.ts';
import { mustExist } from './registry.ts';

export interface Question {
  level: ModuleLevel;
  orgId?: string;
  partnerId?: string;
  enabled: false;
}

async function placeAsked(ctx: Context, { level, orgId, partnerId }: Question): Promise<SwitchOwner> {
  if (level === 'partner') return partnerPlace(ctx, { partnerId });
  if (level === 'organization') {
    if (!orgId) throw errors.OrgRequired();
    return organizationPlace(ctx, orgId);
  }
  if (ctx.scope.kind !== 'system') throw errors.Forbidden();
  return { level, partnerId: null, orgId: null };
}

/** Counts cover the module and all modules that would be switched off with it. */
export async function impactOf(ctx: Context, key: string, question: Question) {
  const module = mustExist(ctx, key);
  if (module.core) throw CoreModule();
  const place = await placeAsked(ctx, question);
  const where = whereOf(place);
  const dependents = effectiveDependents(ctx, key, place);
  const going = [module, ...dependents.map((name) => mustExist(ctx, name))];
  const counts = { objects: {} as Record<string, number>, liveSessions: 0, pendingJobs: 0, waitingCommands: 0 };
  await ctx.asPlatform(async (own) => {
    for (const one of going) {
      Object.assign(counts.objects, await objectsOf(own, one, where));
      counts.pendingJobs += await pendingJobsOf(own, one, where);
      counts.waitingCommands += await waitingCommandsOf(own, one, where);
      counts.liveSessions += await liveSessionsOf(own, one, where);
    }
  });
  return { dependents, ...counts };
}
