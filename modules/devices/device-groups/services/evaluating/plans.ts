/** What an evaluation would change, computed by one statement that only reads. */
import type { Context } from '#core';
import { loosened } from '../../models/condition-tree.ts';
import type { DeviceGroup } from '../../models/device-group.ts';
import { isVolatile } from './rules.ts';

export interface Plan {
  add: string[];
  /** Members that the filter no longer matches. */
  drop: string[];
  /** Members in another site than that of the group, or no longer active: removed regardless of the filter and of pins. */
  moved: string[];
  gone: string[];
  /**
   * Members that do not match for the first time, because of a value that heartbeats change: they stay until the next evaluation.
   */
  doubted: string[];
  /** Members that did not match last time and match again. */
  back: string[];
}
export interface PlanOptions {
  /** Only these devices. */
  deviceIds?: readonly string[];
  /** Removes members that mismatch by values that heartbeats change only if they still do in a second evaluation. */
  patient?: boolean;
}
type PlanStep = keyof Plan | 'wait';

/** The least time between the two evaluations, because events can come in quick succession. */
const MIN_BETWEEN_EVALUATIONS = `interval '1 minute'`;
/** Up to this number of devices, the filter is checked for each device; beyond it, the filter searches all devices. */
const MAX_CHECKED_DEVICES = 1000;

const joined = (joins: readonly { sql: string }[]) => joins.map((join) => join.sql).join(' ');

/**
 * Throws VALIDATION_ERROR for a filter with a field that no longer exists (a custom field), and FILTER_TOO_EXPENSIVE; the
 * transaction may go on after either. The caller holds the lock of the group.
 */
export async function planOf(ctx: Context, group: DeviceGroup, options: PlanOptions = {}): Promise<Plan> {
  const { deviceIds, patient = false } = options;
  const filters = ctx.use('filters');
  const few = deviceIds !== undefined && deviceIds.length <= MAX_CHECKED_DEVICES;
  const params: unknown[] = [group.id, group.orgId, group.siteId, ...(deviceIds ? [deviceIds] : [])];
  const asked = (column: string) => (deviceIds ? `${column} = any($4::uuid[])` : 'true');
  const within = `d.lifecycle = 'active' and ($3::uuid is null or d.site_id = $3::uuid)`;
  const compile = async (tree: unknown) => {
    const compiled = await filters.compile(tree, { orgIds: [group.orgId], first: params.length + 1, few });
    params.push(...compiled.params);
    return compiled;
  };
  const match = await compile(group.filter);
  const loose = patient && match.volatile && group.filter ? loosened(group.filter, isVolatile(ctx)) : undefined;
  const hope = loose ? await compile(loose) : null;
  // Members that would match with other values of the fields that heartbeats change.
  // reach: mustReachAll has rejected callers who do not reach the whole group; otherwise a job of the organization
  const hopeful = hope
    ? `m.device_id in (select d.id from devices d ${joined(hope.joins)} where d.org_id = $2 and ${asked('d.id')} and (${hope.where}))`
    : String(loose === null);
  // reach: mustReachAll has rejected callers who do not reach the whole group; otherwise a job of the organization
  const text = `
    with matched as materialized (
      select d.id from devices d ${joined(match.joins)}
      where d.org_id = $2 and ${within} and ${asked('d.id')} and (${match.where})),
    members as materialized (
      select m.device_id, m.is_pinned, m.unmatch_since, (${within}) as inside, d.lifecycle = 'active' as active
      from device_group_members m join devices d on d.id = m.device_id
      where m.group_id = $1 and not m.is_excluded and ${asked('m.device_id')})
    select a.id as "deviceId", 'add' as what from matched a
    where not exists (select from device_group_members m where m.group_id = $1 and m.device_id = a.id)
    union all
    select m.device_id, case when not m.inside then case when m.active then 'moved' else 'gone' end
      when ${hopeful} and m.unmatch_since is null then 'doubted'
      when ${hopeful} and m.unmatch_since > now() - ${MIN_BETWEEN_EVALUATIONS} then 'wait' else 'drop' end
    from members m
    where not m.inside or (not m.is_pinned and not exists (select from matched a where a.id = m.device_id))
    union all
    select m.device_id, 'back' from members m
    where m.unmatch_since is not null and exists (select from matched a where a.id = m.device_id)
    order by 1`;
  const { rows } = await filters.limited(match, () => ctx.sql<{ deviceId: string; what: PlanStep }>(text, params));
  const ids = (what: PlanStep) => rows.filter((row) => row.what === what).map((row) => row.deviceId);
  const [add, drop, moved, gone] = [ids('add'), ids('drop'), ids('moved'), ids('gone')];
  return { add, drop, moved, gone, doubted: ids('doubted'), back: ids('back') };
}
