/** What an evaluation would change: one statement that reads, and writes nothing. */
import type { Context } from '#core';
import { loosened } from '../../models/condition-tree.ts';
import type { DeviceGroup } from '../../models/device-group.ts';
import { isVolatile } from './rules.ts';

export interface Plan {
  add: string[];
  /** Members that the filter does not match any more. */
  drop: string[];
  /** Out of the group's site, or not active: these go whatever the filter or a pin says. */
  moved: string[];
  gone: string[];
  /** Not matched for the first time, by something that changes all the time: they may yet come back. */
  doubted: string[];
  /** Members that match again. */
  back: string[];
}
export interface PlanOptions {
  /** Only these devices. */
  deviceIds?: readonly string[];
  /** Waits for a second look before members go for what changes all the time. */
  patient?: boolean;
}
type What = keyof Plan | 'wait';

/** Two looks that are closer together count as one: events may come in quick succession. */
const SECOND_LOOK = `interval '1 minute'`;
/** As many as are looked at one by one; more are searched for. */
const FEW = 1000;

const joined = (joins: readonly { sql: string }[]) => joins.map((join) => join.sql).join(' ');

/**
 * Throws VALIDATION_ERROR for a filter that asks for what is no more (a custom field), and FILTER_TOO_EXPENSIVE; the work
 * may go on after either. The group's turn is the caller's.
 */
export async function planOf(ctx: Context, group: DeviceGroup, options: PlanOptions = {}): Promise<Plan> {
  const { deviceIds, patient = false } = options;
  const filters = ctx.use('filters');
  const few = deviceIds !== undefined && deviceIds.length <= FEW;
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
  // Members that would match, were it not for what changes all the time.
  // reach: mustReachAll has refused callers who do not reach the whole group; otherwise a job of the organization
  const hopeful = hope
    ? `m.device_id in (select d.id from devices d ${joined(hope.joins)} where d.org_id = $2 and ${asked('d.id')} and (${hope.where}))`
    : String(loose === null);
  // reach: mustReachAll has refused callers who do not reach the whole group; otherwise a job of the organization
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
      when ${hopeful} and m.unmatch_since > now() - ${SECOND_LOOK} then 'wait' else 'drop' end
    from members m
    where not m.inside or (not m.is_pinned and not exists (select from matched a where a.id = m.device_id))
    union all
    select m.device_id, 'back' from members m
    where m.unmatch_since is not null and exists (select from matched a where a.id = m.device_id)
    order by 1`;
  const { rows } = await filters.limited(match, () => ctx.sql<{ deviceId: string; what: What }>(text, params));
  const ids = (what: What) => rows.filter((row) => row.what === what).map((row) => row.deviceId);
  const [add, drop, moved, gone] = [ids('add'), ids('drop'), ids('moved'), ids('gone')];
  return { add, drop, moved, gone, doubted: ids('doubted'), back: ids('back') };
}
