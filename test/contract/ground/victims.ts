/** Tenants that are attacked: what is theirs, row by row and id by id, found from the tables themselves. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Tenant, TestPlatform } from '#test';

/** What an intruder must not reach: all of a partner's, an organization's, or what lies in a site. */
export type Bounds = 'partner' | 'organization' | 'site';

export interface Victim extends Tenant {
  bounds: Bounds;
  /** Ids of the victim's rows by table. */
  ids: Map<string, string[]>;
  /** Rows that hang below another: the table of the lower one, and both ids. */
  pairs: { table: string; upper: string; lower: string }[];
  /** A hash of all of the victim's rows. */
  fingerprint(): Promise<string>;
}

/** A module's test/example.ts makes one of each of its objects for a tenant. */
type Example = (platform: TestPlatform, tenant: Tenant) => Promise<unknown>;

export async function furnish(platform: TestPlatform, tenant: Tenant): Promise<void> {
  for (const { folder } of platform.platform.modules) {
    const file = join(folder, 'test', 'example.ts');
    if (existsSync(file)) await ((await import(file)) as { default: Example }).default(platform, tenant);
  }
}

/** Written for whoever is refused, or by the platform's own clocks. */
const OTHERS_WRITE = ['audit_logs', 'audit_names', 'audit_outbox', 'job_runs', 'queue_lanes'];

interface Table {
  name: string;
  columns: string[];
}

/** Condition on `t` for the victim's rows; null for a table that holds none. */
function belongs({ name, columns }: Table, bounds: Bounds): string | null {
  const has = (column: string) => columns.includes(column);
  if (bounds === 'site') {
    if (name === 'sites') return 't.id = $3';
    const parts: string[] = [];
    if (has('site_id')) parts.push('t.site_id = $3');
    if (has('device_id')) parts.push('t.device_id in (select id from devices where site_id = $3)');
    return parts.length > 0 ? parts.join(' or ') : null;
  }
  const people = `select user_id from organization_users where org_id = $1${
    bounds === 'partner' ? ' union select user_id from partner_users where partner_id = $2' : ''
  }`;
  const parts: string[] = [];
  if (name === 'organizations') parts.push('t.id = $1');
  else if (has('org_id')) parts.push('t.org_id = $1');
  if (name === 'users') parts.push(`t.id in (${people})`);
  else if (has('user_id')) parts.push(`t.user_id in (${people})`);
  if (bounds === 'partner') {
    if (name === 'partners') parts.push('t.id = $2');
    else if (has('partner_id')) parts.push('t.partner_id = $2');
  }
  return parts.length > 0 ? parts.join(' or ') : null;
}

async function tablesOf(platform: TestPlatform): Promise<Table[]> {
  return platform.sql<Table>(
    `select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns from pg_class c
     join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
     group by 1 order by 1`,
  );
}

/** Every foreign key of one column, from a table with an id to the id of another; paths take no other ids than UUIDs. */
const KEYS = `
select k.conrelid::regclass::text as lower, a.attname::text as col from pg_constraint k
join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[1] and a.atttypid = 'uuid'::regtype
join pg_attribute i on i.attrelid = k.conrelid and i.attname = 'id' and i.atttypid = 'uuid'::regtype
where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conparentid = 0 and cardinality(k.conkey) = 1`;

export async function victimOf(platform: TestPlatform, tenant: Tenant, bounds: Bounds): Promise<Victim> {
  const { orgId, partnerId, siteId } = tenant;
  const owned = (await tablesOf(platform)).flatMap((table) => {
    const condition = belongs(table, bounds);
    return condition ? [{ ...table, condition }] : [];
  });
  // Each parameter has to be of a known type, also where a condition does not use it.
  const given = `with given as (select $1::uuid, $2::uuid, $3::uuid)`;
  const values = [orgId, partnerId, siteId];
  const ids = new Map<string, string[]>();
  for (const { name, condition } of owned.filter((table) => table.columns.includes('id'))) {
    const rows = await platform.sql<{ id: string }>(
      `${given} select t.id::text as id from ${name} t where ${condition} order by 1 limit 50`,
      values,
    );
    if (rows.length > 0)
      ids.set(
        name,
        rows.map((row) => row.id),
      );
  }
  const keys = await platform.sql<{ lower: string; col: string }>(KEYS);
  const pairs: Victim['pairs'] = [];
  for (const { lower, col } of keys) {
    const own = ids.get(lower);
    if (!own) continue;
    const rows = await platform.sql<{ upper: string; lower: string }>(
      `select ${col}::text as upper, id::text as lower from ${lower} where id = any($1::uuid[]) and ${col} is not null limit 5`,
      [own],
    );
    pairs.push(...rows.map((row) => ({ ...row, table: lower })));
  }
  const hashed = owned.filter(({ name }) => !OTHERS_WRITE.includes(name));
  const all = hashed.map(
    ({ name, condition }) =>
      `select '${name}' as tab, string_agg(md5(t::text), ' ' order by t::text) as rows from ${name} t where ${condition}`,
  );
  const text = `${given} select md5(string_agg(tab || ':' || coalesce(rows, ''), '|' order by tab)) as hash from (${all.join(' union all ')}) x`;
  return {
    ...tenant,
    bounds,
    ids,
    pairs,
    fingerprint: async () => (await platform.sql<{ hash: string }>(text, values))[0]?.hash ?? '',
  };
}
