/** The catalogue as users see it, with the number of their devices that run each version. */

import type { Component } from '#agent-protocol';
import { type Context, type PageQuery, page, reach, type SortKey } from '#core';
import { AgentVersion, type VersionState } from '../models/agent-version.ts';
import { canonicalArchitecture, canonicalPlatform } from '../models/coordinates.ts';
import { shown } from './downloads.ts';

export interface VersionQuery extends PageQuery {
  component?: Component;
  platform?: string;
  architecture?: string;
  state?: VersionState;
}
const ORDER = {
  name: 'agent-versions-newest',
  keys: [
    { expression: 'agent_versions.sort_key', direction: 'desc', type: 'text' },
    { expression: 'agent_versions.id', direction: 'desc', type: 'uuid' },
  ] satisfies SortKey[],
};

export async function listVersions(ctx: Context, query: VersionQuery) {
  const rows = AgentVersion.in(ctx);
  const { component, platform, architecture, state } = query;
  if (component) rows.where('agent_versions.component', component);
  if (platform) rows.where('agent_versions.platform', canonicalPlatform(platform));
  if (architecture) rows.where('agent_versions.architecture', canonicalArchitecture(architecture));
  if (state) rows.where('agent_versions.state', state);
  const found = await page(rows, query, ORDER);
  const counts = await countDevices(ctx, found.data);
  return { ...found, data: found.data.map((row) => ({ ...shown(ctx, row), deviceCount: counts.get(row.id) ?? 0 })) };
}

const INSTALLED = `case v.component when 'agent' then d.agent_version when 'watchdog' then s.watchdog_version end`;

async function countDevices(ctx: Context, rows: readonly AgentVersion[]): Promise<Map<string, number>> {
  if (rows.length === 0) return new Map();
  const values: unknown[] = [rows.map(({ id }) => id)];
  const add = (value: unknown, type: string) => `$${values.push(value)}::${type}`;
  const { rows: counts } = await ctx.sql<{ id: string; n: number }>(
    `select v.id, count(*)::int as n from agent_versions v
     join devices d on d.os_type = v.platform and case d.architecture when 'x64' then 'amd64' else d.architecture end
       = v.architecture and d.lifecycle in ('active', 'quarantined') and ${reach(ctx, 'd', add)}
     left join device_state s on s.device_id = d.id
     where v.id = any($1::uuid[]) and ${INSTALLED} = v.version group by v.id`,
    values,
  );
  return new Map(counts.map(({ id, n }) => [id, n]));
}
