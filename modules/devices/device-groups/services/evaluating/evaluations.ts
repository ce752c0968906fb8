/** Makes the members of a dynamic group what its filter says. A filter that cannot be evaluated empties no group. */
import { randomUUID } from 'node:crypto';
import type { Context } from '#core';
import evaluationFailed from '../../events/evaluation/failed.ts';
import massChange from '../../events/mass-change.ts';
import { DeviceGroup } from '../../models/device-group.ts';
import { addMembers, type Changes, removeMembers, settle } from '../members/memberships.ts';
import { type Plan, planOf } from './plans.ts';
import { takeTurn, tryTurn } from './turns.ts';

/** More members than this share going at once is taken for a mistake at first, in groups of at least so many. */
const MASS = { share: 0.5, least: 20 };
const CYCLE_MS = 300_000;
/** The clocks of the database and of this process may differ. */
const SLACK_MS = 30_000;
/** A failed evaluation is tried again after 30 s, twice that, and so on. */
const RETRY_MS = 30_000;
const MOST_RETRIES = 5;
/** Failures in a row after which the organization is told. */
const TOLD_AFTER = 3;

type Named = Pick<DeviceGroup, 'id' | 'orgId'>;

/** Writes a plan; with `hold` those that are to be dropped stay. The group's turn is the caller's. */
async function carryOut(ctx: Context, group: DeviceGroup, plan: Plan, hold: boolean): Promise<Changes> {
  const evaluationId = randomUUID();
  const added = await addMembers(ctx, group, plan.add, { reason: 'filter_match', evaluationId });
  const removed: string[] = [];
  for (const [ids, reason] of [
    [hold ? [] : plan.drop, 'filter_unmatch'],
    [plan.moved, 'device_moved'],
    [plan.gone, 'device_removed'],
  ] as const) {
    removed.push(...(await removeMembers(ctx, group, ids, { reason, evaluationId })));
  }
  for (const [ids, since] of [
    [plan.doubted, 'now()'],
    [plan.back, 'null'],
  ] as const) {
    if (ids.length === 0) continue;
    // reach: mustReachAll has refused callers who do not reach the whole group; otherwise a job of the organization
    await ctx.sql(
      `update device_group_members set unmatch_since = ${since} where group_id = $1 and device_id = any($2::uuid[])`,
      [group.id, ids],
    );
  }
  await settle(ctx, group, { added, removed }, evaluationId);
  return { added, removed };
}

// reach: mustReachAll has refused callers who do not reach the whole group; otherwise a job of the organization
const SUCCEEDED = `update device_groups set evaluation_status = 'ready', last_evaluated_at = now(),
  last_evaluation_error = null, evaluation_failures = 0, held_since = case when $2 then coalesce(held_since, now()) end
where id = $1`;

/**
 * At once and in full, because somebody asked for it: no second look, and no doubt about how many go. The turn is
 * waited for. Throws VALIDATION_ERROR and FILTER_TOO_EXPENSIVE.
 */
async function evaluateNow(ctx: Context, group: DeviceGroup): Promise<Changes> {
  await takeTurn(ctx, group.id);
  const changes = await carryOut(ctx, group, await planOf(ctx, group), false);
  await ctx.sql(SUCCEEDED, [group.id, false]);
  return changes;
}

/** Whether so many would go that it looks like a mistake: that waits for one cycle. */
const isMass = ({ deviceCount }: DeviceGroup, { drop }: Plan): boolean =>
  deviceCount >= MASS.least && drop.length > deviceCount * MASS.share;

const evaluateAt = (ctx: Context, { id, orgId }: Named, at: number, key: string, asked = false) =>
  ctx.addJob(
    'device-groups/evaluate-group',
    { groupId: id, ...(asked ? { asked } : {}) },
    { orgId, key: `${key}:${id}`, runAt: new Date(at) },
  );

async function noteFailure(ctx: Context, group: DeviceGroup, error: Error): Promise<void> {
  // reach: job of the whole organization
  const { rows } = await ctx.sql<{ failures: number }>(
    `update device_groups set evaluation_status = 'error', last_evaluation_error = left($2, 500),
       evaluation_failures = evaluation_failures + 1 where id = $1 returning evaluation_failures as failures`,
    [group.id, error.message],
  );
  const failures = rows[0]?.failures ?? 0;
  const { id: groupId, name, orgId } = group;
  if (failures <= MOST_RETRIES) evaluateAt(ctx, group, Date.now() + RETRY_MS * 2 ** (failures - 1), 'group');
  if (failures === TOLD_AFTER) {
    ctx.emit(evaluationFailed, { groupId, name, error: error.message }, { orgId });
  }
}

export interface Evaluation {
  changes: Changes;
  mode: DeviceGroup['evaluationMode'];
}
export interface BackgroundOptions {
  /** Only these; the turn is then waited for, because what they are about is taken off the queue. */
  deviceIds?: readonly string[];
  /** A person asked for it, in a request that could not wait (over 20,000 devices). */
  asked?: boolean;
}

/**
 * In a job: with second looks, and great losses held back. A failure is noted with the group, tried again, and leaves its
 * members alone. @returns what changed, or null when it did not come to an evaluation
 */
export async function evaluateInBackground(
  ctx: Context,
  groupId: string,
  { deviceIds, asked = false }: BackgroundOptions = {},
): Promise<Evaluation | null> {
  const seen = await DeviceGroup.in(ctx).findById(groupId);
  if (!seen) return null;
  if (deviceIds) await takeTurn(ctx, groupId);
  else if (!(await tryTurn(ctx, groupId))) {
    // Somebody is at it who may have begun before the change that this is about: once more, and not twice.
    evaluateAt(ctx, seen, Date.now() + 1000, 'group', asked);
    return null;
  }
  const group = await DeviceGroup.in(ctx).findById(groupId);
  if (group?.type !== 'dynamic') return null;
  let plan: Plan;
  try {
    plan = await planOf(ctx, group, { patient: !asked, ...(deviceIds ? { deviceIds } : {}) });
  } catch (error) {
    await noteFailure(ctx, group, error as Error);
    return null;
  }
  const mass = !asked && isMass(group, plan);
  const heldSince = group.heldSince?.getTime() ?? Date.now();
  const hold = mass && heldSince > Date.now() - CYCLE_MS + SLACK_MS;
  const changes = await carryOut(ctx, group, plan, hold);
  if (hold) {
    evaluateAt(ctx, group, heldSince + CYCLE_MS, 'group-held');
    // reach: job of the whole organization
    await ctx.sql('update device_groups set held_since = coalesce(held_since, now()) where id = $1', [groupId]);
  } else if (mass) {
    const { name, orgId, deviceCount: of } = group;
    ctx.emit(massChange, { groupId, name, removed: plan.drop.length, of }, { orgId });
  }
  if (!deviceIds) await ctx.sql(SUCCEEDED, [groupId, hold]);
  return { changes, mode: group.evaluationMode };
}

/**
 * A change may have been under way that neither saw the group nor was seen by the evaluation in a request: looks again
 * when it will be over.
 */
export const lookAgain = (ctx: Context, group: Named) => evaluateAt(ctx, group, Date.now() + 15_000, 'group');

/** Devices in an organization up to which a request evaluates itself. */
const MOST_AT_ONCE = 20_000;

/** For a request: what changed, or null where a job does it, because the organization has too many devices. */
export async function evaluateAsked(ctx: Context, group: DeviceGroup): Promise<Changes | null> {
  // reach: only compares the size of the organization with a limit
  const { rows } = await ctx.sql<{ many: boolean }>(
    'select exists (select from devices where org_id = $1 offset $2) as many',
    [group.orgId, MOST_AT_ONCE],
  );
  if (!rows[0]?.many) return evaluateNow(ctx, group);
  await DeviceGroup.in(ctx).where({ id: group.id }).patch({ evaluationStatus: 'evaluating' });
  evaluateAt(ctx, group, Date.now(), 'group', true);
  return null;
}

/** After a change that was not made in a request. */
export const evaluateSoon = (ctx: Context, group: Named) => evaluateAt(ctx, group, Date.now(), 'group');
