/** The devices that a condition tree matches: their number, and the first of them by name. */
import type { Context } from '#core';
import type { FilterField } from '../models/field.ts';
import { Params } from '../operators/kind.ts';
import { type Compiled, compile, joinsOf } from './compilations.ts';
import { limited, visible } from './evaluations.ts';
import { fieldsFor } from './fields.ts';

export interface Preview {
  totalCount: number;
  devices: Record<string, unknown>[];
  evaluatedAt: Date;
}
interface PreviewRow extends Record<string, unknown> {
  totalCount: number;
  evaluatedAt: Date;
  id: string | null;
}

/** The fields of a device in a preview; read like all other fields, so that this module does not depend on their tables. */
const SHOWN = ['hostname', 'displayName', 'osType', 'status', 'lastSeenAt'];

async function shownFields(ctx: Context): Promise<FilterField[]> {
  const found = await fieldsFor(ctx, new Set(SHOWN), ctx.scope.orgIds);
  return SHOWN.flatMap((key) => found.get(key) ?? []);
}

/** Counts and selects in one pass over the devices; reads the fields of the selected devices only. */
export function previewSql(compiled: Compiled, seen: string, shown: readonly FilterField[], limit: string): string {
  const text = (joins: readonly { sql: string }[]) => joins.map((join) => join.sql).join(' ');
  const columns = shown.map((field) => `${field.value} as "${field.key}"`).join(', ');
  const living = compiled.removed ? 'true' : `d.lifecycle <> 'decommissioned'`;
  // reach: `seen` is visible(), which is reach()
  return `
with found as materialized (
  select d.id, lower(d.hostname) collate "C" as name from devices d ${text(compiled.joins)}
  where ${seen} and ${living} and (${compiled.where})),
picked as (select id, name from found order by name, id limit ${limit})
select c.total as "totalCount", now() as "evaluatedAt", r.* from (select count(*) as total from found) c
left join (select d.id, p.name as sort, ${columns} from picked p join devices d on d.id = p.id ${text(joinsOf(shown))}) r on true
order by r.sort, r.id`;
}

/** Evaluates all devices that the caller sees, regardless of the organization of the filter. */
export async function evaluate(ctx: Context, conditions: unknown, limit: number, path?: string): Promise<Preview> {
  const params = new Params();
  const seen = visible(ctx, params);
  const limitParameter = params.add(limit, 'int');
  const compiled = await compile(ctx, conditions, { first: params.list.length + 1, ...(path ? { path } : {}) });
  const text = previewSql(compiled, seen, await shownFields(ctx), limitParameter);
  const { rows } = await limited(ctx, compiled, () => ctx.sql<PreviewRow>(text, [...params.list, ...compiled.params]));
  const [first] = rows;
  return {
    totalCount: first?.totalCount ?? 0,
    devices: rows
      .filter((row) => row.id !== null)
      .map(({ totalCount: _, evaluatedAt: __, sort: ___, ...device }) => device),
    evaluatedAt: first?.evaluatedAt ?? new Date(),
  };
}

/** POST /filters/preview. */
export async function previewConditions(ctx: Context, conditions: unknown, limit: number): Promise<{ data: Preview }> {
  const data = await evaluate(ctx, conditions, limit);
  ctx.audit('filter.preview', { details: { totalCount: data.totalCount, limit } });
  return { data };
}
