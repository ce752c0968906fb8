/** Tags in use: counted over the devices that the caller sees. No other list of tags exists. */
import {
  type AddParameter,
  type Context,
  decodeCursor,
  encodeCursor,
  errors,
  mustReachOrg,
  mustReachSites,
  reach,
} from '#core';
import type { TagQuery } from '../models/tag-query.ts';

interface TagCount {
  tag: string | null;
  n: number;
  orgIds: string[] | null;
  total: number;
}

/** The order by count uses the negated count, so that one comparison covers both keys of the cursor. */
const SORTS = {
  count: {
    keys: '-n, tag collate "C"',
    after: (add: AddParameter, n: number, tag: string) =>
      `(-n, tag collate "C") > (${add(n, 'bigint')}, ${add(tag, 'text')})`,
  },
  name: {
    keys: 'tag collate "C"',
    after: (add: AddParameter, _n: number, tag: string) => `tag collate "C" > ${add(tag, 'text')}`,
  },
};

/** Throws 403 or 404 for an organization or site out of reach: a list without it would look complete. */
async function mustReach(ctx: Context, { orgId, siteId }: Pick<TagQuery, 'orgId' | 'siteId'>): Promise<void> {
  if (orgId) mustReachOrg(ctx, orgId);
  if (siteId) await mustReachSites(ctx, [siteId]);
}

/** Throws 404 or 403 for an organization or site out of reach, and INVALID_CURSOR. */
export async function listTags(ctx: Context, query: TagQuery) {
  await mustReach(ctx, query);
  const values: unknown[] = [];
  const add: AddParameter = (value, type) => `$${values.push(value)}::${type}`;
  const parts = [reach(ctx, 'd', add), `d.lifecycle <> 'decommissioned'`, `d.tags <> '{}'`];
  if (query.orgId) parts.push(`d.org_id = ${add(query.orgId, 'uuid')}`);
  if (query.siteId) parts.push(`d.site_id = ${add(query.siteId, 'uuid')}`);
  const search = query.search ? ctx.use('devices').tagKey(query.search) : '';
  const sought = search ? `where strpos(u.tag, ${add(search, 'text')}) > 0` : '';
  const many = ctx.scope.kind !== 'organization';
  const order = SORTS[query.sort];
  const { limit, cursor } = query;
  let after = 'true';
  if (cursor) {
    const [n, tag] = decodeCursor(`tags-${query.sort}`, cursor, 2);
    if (typeof n !== 'number' || !Number.isSafeInteger(n) || typeof tag !== 'string') throw errors.InvalidCursor();
    after = order.after(add, n, tag);
  }
  const offset = cursor === undefined ? ((query.page ?? 1) - 1) * limit : 0;
  const { rows } = await ctx.sql<TagCount>(
    `with counted as (
       select o.tag, sum(o.n)::bigint as n, (array_agg(o.org_id order by o.org_id))[1:20] as orgs
       from (select u.tag, u.org_id, count(*) as n
         from (select unnest(d.tags) as tag, d.org_id from devices d where ${parts.join(' and ')}) u ${sought}
         group by u.tag, u.org_id) o
       group by o.tag)
     select c.total, r.tag, r.n, ${many ? 'r.orgs' : 'null'} as "orgIds" from (select count(*) as total from counted) c
     left join (select * from counted where ${after} order by ${order.keys} limit ${limit + 1} offset ${offset}) r on true
     order by ${order.keys}`,
    values,
  );
  const total = rows[0]?.total ?? 0;
  const found = rows.flatMap(({ tag, n, orgIds }) => (tag === null ? [] : [{ tag, n, orgIds }]));
  const shown = found.slice(0, limit);
  const data = shown.map(({ tag, n, orgIds }) => ({
    id: tag,
    name: tag,
    tag,
    deviceCount: n,
    ...(orgIds ? { orgIds } : {}),
  }));
  if (cursor === undefined) return { data, pagination: { page: query.page ?? 1, limit, total }, total };
  const last = shown.at(-1);
  const hasMore = found.length > limit;
  const next = hasMore && last ? encodeCursor(`tags-${query.sort}`, [-last.n, last.tag]) : null;
  return { data, pagination: { hasMore, cursor: next }, total };
}
