/** Software on all devices that the caller sees: each installation, or each name once. */
import {
  type Context,
  mustAccessOrg,
  mustAccessSite,
  page,
  reach,
  type SortKey,
  type TrackedList,
  trackedPage,
  wantsChanges,
} from '#core';
import { Software, SoftwareTitle } from '../../models/inventory.ts';
import type { SoftwareQuery } from '../../models/software-query.ts';

const INSTALLATIONS = {
  name: 'software-installations',
  keys: [
    { expression: 'device_software.org_id', direction: 'asc', type: 'uuid' },
    { expression: 'device_software.id', direction: 'asc', type: 'uuid' },
  ] satisfies SortKey[],
};
const LIST: TrackedList = {
  kind: 'software',
  within: 'device',
  walk: [
    { column: 'device_software.org_id', field: 'orgId' },
    { column: 'device_software.id', field: 'id' },
  ],
  maxLimit: 500,
};
const TITLES = {
  name: 'software-titles',
  keys: [{ expression: 'titles.key', direction: 'asc', type: 'text' }] satisfies SortKey[],
};
const SHOWN = ['id', 'deviceId', 'orgId', 'name', 'version', 'vendor', 'installDate', 'installLocation', 'firstSeenAt'];

function installations(ctx: Context, { orgId, siteId, search, name, vendor, version }: SoftwareQuery) {
  const rows = Software.in(ctx);
  const values: unknown[] = [];
  const seen = reach(ctx, 'd', (value, type) => {
    values.push(value);
    return `?::${type}`;
  });
  rows.whereRaw(
    `exists (select from devices d where d.id = device_software.device_id and d.lifecycle <> 'decommissioned' and ${seen}
       ${siteId ? 'and d.site_id = ?' : ''})`,
    [...values, ...(siteId ? [siteId] : [])] as string[],
  );
  if (orgId) rows.where('device_software.orgId', orgId);
  if (name) rows.whereRaw('lower(device_software.name) = lower(?)', [name]);
  if (vendor) rows.whereRaw('lower(device_software.vendor) = lower(?)', [vendor]);
  if (version) rows.where('device_software.version', version);
  if (search) {
    rows.whereRaw(
      '(strpos(lower(device_software.name), lower(?)) > 0 or strpos(lower(device_software.vendor), lower(?)) > 0)',
      [search, search],
    );
  }
  return rows;
}

/** Throws 403 for an organization or a site out of reach, and the errors of change lists. */
export async function listSoftwareInventory(ctx: Context, query: SoftwareQuery) {
  if (query.orgId) mustAccessOrg(ctx, query.orgId);
  if (query.siteId) mustAccessSite(ctx, query.siteId);
  const rows = installations(ctx, query);
  if (query.groupBy === 'none' || wantsChanges(query)) {
    const shown = rows.select(SHOWN.map((column) => `device_software.${column}`));
    return trackedPage(ctx, shown, query, { order: INSTALLATIONS, list: LIST });
  }
  const titles = SoftwareTitle.query(ctx.trx).from(
    SoftwareTitle.raw(
      `(select lower(r.name) as key, min(r.name) as name, min(r.vendor) as vendor,
          count(distinct r.device_id)::integer as device_count,
          (select json_agg(json_build_object('version', v.version, 'n', v.n) order by v.n desc, v.version)
           from (select version, count(*) as n from unnest(array_agg(r.version)) version group by version) v) as versions
        from (?) r group by lower(r.name)) as titles`,
      [rows.select('device_software.*')],
    ),
  );
  return page(titles.select('titles.*'), query, TITLES, ({ name, vendor, deviceCount, versions: of }) => ({
    name,
    vendor,
    deviceCount,
    versions: of,
  }));
}
