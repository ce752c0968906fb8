/** The devices that have a tag. */
import type { Context } from '#core';
import { invalid } from '../errors.ts';
import type { TagDevicesQuery } from '../models/tag-query.ts';

/** Rows as in GET /devices, with its errors; none for a tag that no device has. */
export async function listTagged(ctx: Context, { tag, match, orgId, siteId, ...paging }: TagDevicesQuery) {
  const devices = ctx.use('devices');
  const tags = [...new Set(tag.map((text) => devices.tagKey(text)))];
  for (const one of tags) {
    if (one === '' || [...one].length > 50) throw invalid('tag', 'A tag has 1 to 50 characters', 'query');
  }
  const filters = ctx.use('filters');
  const operator = match === 'all' ? 'hasAll' : 'hasAny';
  const tree = { operator: 'AND', conditions: [{ field: 'tags', operator, value: tags }] };
  const query = { ...paging, ...(orgId ? { orgIds: [orgId] } : {}), ...(siteId ? { siteIds: [siteId] } : {}) };
  const page = await devices.listPage(query, async (first) => {
    const compiled = await filters.compile(tree, { first });
    return { ...compiled, limited: (run) => filters.limited(compiled, run) };
  });
  // Unambiguous, because a tag contains no comma.
  return { ...page, tag: tags.join(',') };
}
