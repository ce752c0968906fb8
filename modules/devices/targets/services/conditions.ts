/** A target as conditions over `devices d`: one statement whatever it names. */
import { type AddParameter, type AuthorLimits, type Context, inGroups, reach, type Target } from '#core';
import type { TargetOwner } from '../models/resolved.ts';

export interface Conditions {
  /** Tables that `named` refers to. */
  joins: string;
  /** The devices of the owner, as far as the caller or the author reaches them. */
  within: string;
  /** What the target names. */
  named: string;
  /** What it excludes; false where it excludes nothing. */
  excluded: string;
  values: unknown[];
  /** Milliseconds for `limited` of the filters. */
  limit: number | null;
}

/** Devices in other states are never targets. */
export const LIVING = `d.lifecycle = 'active'`;

/** @param limits of the caller or the author @throws VALIDATION_ERROR with the path of each fault in a filter */
export async function conditionsOf(
  ctx: Context,
  target: Target,
  owner: TargetOwner,
  limits: AuthorLimits,
  path = 'target',
): Promise<Conditions> {
  const values: unknown[] = [];
  const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  const parts = [ofOwner(owner, add), reach({ scope: limits }, 'd', add)];
  const excluded = excludedBy(target, add);
  if (target.type !== 'filter')
    return { joins: '', within: parts.join(' and '), named: namedBy(target, add), excluded, values, limit: null };
  const compiled = await ctx.use('filters').compile(target.filter, {
    ...(owner.orgId ? { orgIds: [owner.orgId] } : {}),
    first: values.length + 1,
    path: `${path}.filter`,
  });
  return {
    joins: compiled.joins.map((join) => join.sql).join(' '),
    within: parts.join(' and '),
    named: `(${compiled.where})`,
    excluded,
    values: [...values, ...compiled.params],
    limit: compiled.limit,
  };
}

function ofOwner({ orgId, partnerId }: TargetOwner, add: AddParameter): string {
  if (orgId) return `d.org_id = ${add(orgId, 'uuid')}`;
  return `d.org_id in (select o.id from organizations o where o.partner_id = ${add(partnerId, 'uuid')} and o.deleted_at is null)`;
}

function namedBy({ type, ids = [], tags = [] }: Target, add: AddParameter): string {
  if (type === 'organizations') return `d.org_id = any(${add(ids, 'uuid[]')})`;
  if (type === 'sites') return `d.site_id = any(${add(ids, 'uuid[]')})`;
  if (type === 'groups') return inGroups('d.id', add(ids, 'uuid[]'));
  if (type === 'devices') return `d.id = any(${add(ids, 'uuid[]')})`;
  return type === 'tags' ? `d.tags && ${add(tags, 'text[]')}` : 'true';
}

function excludedBy({ exclude }: Target, add: AddParameter): string {
  const { deviceIds, siteIds, groupIds, tags } = exclude ?? {};
  const parts = [
    deviceIds && `d.id = any(${add(deviceIds, 'uuid[]')})`,
    siteIds && `d.site_id = any(${add(siteIds, 'uuid[]')})`,
    groupIds && inGroups('d.id', add(groupIds, 'uuid[]')),
    tags && `d.tags && ${add(tags, 'text[]')}`,
  ].filter((part) => part !== undefined);
  return parts.length > 0 ? `(${parts.join(' or ')})` : 'false';
}
