/** Updates the members of a dynamic group to what its filter matches. A filter that cannot be evaluated changes no members. */
import { randomUUID } from 'node:crypto';
import type { Context } from '#core';
import evaluationFailed from '../../events/evaluation/failed.ts';
import massChange from '../../events/mass-change.ts';
import { DeviceGroup } from '../../models/device-group.ts';
import { addMembers, type Changes, removeMembers, settle } from '../members/memberships.ts';
import { type Plan, planOf } from './plans.ts';
import { takeTurn, tryTurn } from './turns.ts';

/** Thresholds of a mass change: the share of members that are removed at once, and the least size of the group. */
const MASS_CHANGE = { share: 0.5, minMembers: 20 };
const CYCLE_MS = 300_000;
/** The clocks of the database and of this process may differ. */
const SLACK_MS = 30_000;
/** A failed evaluation is repeated after 30 s, then after twice that, and so on. */
const RETRY_MS = 30_000;
const MAX_RETRIES = 5;
/** Consecutive failures after which the event is emitted. */
const FAILURES_BEFORE_EVENT = 3;

type GroupKey = Pick<DeviceGroup, 'id' | 'orgId'>;

/** Writes a plan; with `hold` the members to be dropped stay. The caller holds the lock of the group. */
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
    // reach: mustReachAll has rejected callers who do not reach the whole group; otherwise a job of the organization
    await ctx.sql(
      `update device_group_members set unmatch_since = ${since} where group_id = $1 and device_id = any($2::uuid[])`,
      [group.id, ids],
    );
  }
  await settle(ctx, group, { added, removed }, evaluationId);
  return { added, removed };
}

// reach: mustReachAll has rejected callers who do not reach the whole group; otherwise a job of the organization
const SUCCEEDED = `update device_groups set evaluation_status = 'ready', last_evaluated_at = now(),
  last_evaluation_error = null, evaluation_failures = 0, held_since = case when $2 then coalesce(held_since, now()) end
where id = $1`;

/**
 * Evaluates the whole group for a request: without a second evaluation before members are dropped, and without holding back a
 * mass change. Waits for the lock of the group. Throws VALIDATION_ERROR and FILTER_TOO_EXPENSIVE.
 */
async function evaluateNow(ctx: Context, group: DeviceGroup): Promise<Changes> {
  await takeTurn(ctx, group.id);
  const changes = await carryOut(ctx, group, await planOf(ctx, group), false);
  await ctx.sql(SUCCEEDED, [group.id, false]);
  return changes;
}

/** Whether so many members would be removed that it is probably a mistake: then the removal waits for one cycle. */
const isMass = ({ deviceCount }: DeviceGroup, { drop }: Plan): boolean =>
  deviceCount >= MASS_CHANGE.minMembers && drop.length > deviceCount * MASS_CHANGE.share;

const evaluateAt = (ctx: Context, { id, orgId }: GroupKey, at: number, key: string, asked = false) =>
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
  if (failures <= MAX_RETRIES) evaluateAt(ctx, group, Date.now() + RETRY_MS * 2 ** (failures - 1), 'group');
  if (failures === FAILURES_BEFORE_EVENT) {
    ctx.emit(evaluationFailed, { groupId, name, error: error.message }, { orgId });
  }
}

export interface Evaluation {
  changes: Changes;
  mode: DeviceGroup['evaluationMode'];
}
export interface BackgroundOptions {
  /** Only these devices. Then the evaluation waits for the lock, because their rows have been taken off the queue. */
  deviceIds?: readonly string[];
  /** Requested by a user or an API key; a job does it, because the organization has over 20,000 devices. */
  asked?: boolean;
}

/**
 * Evaluates a group in a job: drops members only after a second evaluation, and holds a mass change back. A failure is stored
 * with the group, repeated, and changes no members. @returns what changed, or null when the group was not evaluated
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
    // The evaluation that holds the lock may have begun before the change that this one is for: one more follows.
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
 * Evaluates once more after 15 seconds: a concurrent change of a device may have seen no group with this filter, and the
 * evaluation in the request may not have seen that change.
 */
export const evaluateOnceMore = (ctx: Context, group: GroupKey) => evaluateAt(ctx, group, Date.now() + 15_000, 'group');

/** Devices of an organization up to which the request itself evaluates. */
const MAX_DEVICES_IN_REQUEST = 20_000;

/** For a request: returns what changed, or null when a job evaluates, because the organization has too many devices. */
export async function evaluateAsked(ctx: Context, group: DeviceGroup): Promise<Changes | null> {
  // reach: only compares the size of the organization with a limit
  const { rows } = await ctx.sql<{ many: boolean }>(
    'select exists (select from devices where org_id = $1 offset $2) as many',
    [group.orgId, MAX_DEVICES_IN_REQUEST],
  );
  if (!rows[0]?.many) return evaluateNow(ctx, group);
  await DeviceGroup.in(ctx).where({ id: group.id }).patch({ evaluationStatus: 'evaluating' });
  evaluateAt(ctx, group, Date.now(), 'group', true);
  return null;
}

/** For changes that are not made in a request. */
export const evaluateSoon = (ctx: Context, group: GroupKey) => evaluateAt(ctx, group, Date.now(), 'group');
