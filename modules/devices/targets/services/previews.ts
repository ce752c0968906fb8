/** What a target would be for, before anything runs. */
import type { Context, Target } from '#core';
import type { TargetOwner, TargetPreview } from '../models/resolved.ts';
import { conditionsOf, LIVING } from './conditions.ts';

const SHOWN = 20;

interface Counts {
  count: number;
  excluded: number;
  decommissioned: number;
  pending: number;
  quarantined: number;
  devices: TargetPreview['devices'];
}

/** As far as the caller reaches; what it does not reach is not counted either. One statement. Throws as `resolve`. */
export async function preview(ctx: Context, target: Target, owner: TargetOwner, path?: string): Promise<TargetPreview> {
  const conditions = await conditionsOf(ctx, target, owner, ctx.scope, path);
  const { joins, within, named, excluded, values, limit } = conditions;
  // reach: `within` holds the owner's organizations and reach() of the caller
  const text = `
    with found as materialized (
      select d.id, d.hostname, d.org_id, d.site_id, d.lifecycle, ${excluded} as excluded from devices d ${joins}
      where ${within} and ${named}),
    fit as (select d.* from found d where ${LIVING} and not d.excluded),
    first as (select * from fit order by lower(hostname) collate "C", id limit ${SHOWN})
    select (select count(*)::int from fit) as count,
      count(*) filter (where d.excluded and ${LIVING})::int as excluded,
      count(*) filter (where d.lifecycle = 'decommissioned')::int as decommissioned,
      count(*) filter (where d.lifecycle = 'pending')::int as pending,
      count(*) filter (where d.lifecycle = 'quarantined')::int as quarantined,
      (select coalesce(json_agg(json_build_object('id', id, 'hostname', hostname, 'orgId', org_id, 'siteId', site_id)
         order by lower(hostname) collate "C", id), '[]') from first) as devices
    from found d`;
  const { rows } = await ctx.use('filters').limited({ limit }, () => ctx.sql<Counts>(text, values));
  const {
    count = 0,
    devices = [],
    excluded: left = 0,
    decommissioned = 0,
    pending = 0,
    quarantined = 0,
  } = rows[0] ?? {};
  return { count, devices, skipped: { excluded: left, decommissioned, pending, quarantined } };
}
