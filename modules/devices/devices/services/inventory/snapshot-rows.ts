/** Updates the rows of a device to a snapshot, and writes only those that differ. */
import type { Context } from '#core';

export type Rows = readonly Record<string, unknown>[];
interface Owner {
  id: string;
  orgId: string;
}

/** Key columns besides the device, and the other columns with their types, of each table that a snapshot fills. */
const TABLES = {
  device_network_interfaces: {
    key: ['name'],
    columns: 'name text, mac_address text, ipv4 text[], ipv6 text[], is_primary boolean, public_ip text',
  },
  device_disks: {
    key: ['mount_point'],
    columns: `mount_point text, device text, fs_type text, total_gb real, used_gb real, free_gb real, used_percent real,
      health text`,
  },
  device_software: {
    key: ['name', 'version'],
    columns: 'name text, version text, vendor text, install_date text, install_location text, uninstall_string text',
  },
  device_services: { key: ['name'], columns: 'name text, display_name text, state text, start_type text' },
};

function statement(table: keyof typeof TABLES): string {
  const { key, columns } = TABLES[table];
  const names = columns.split(',').map((column) => column.trim().split(' ')[0] ?? '');
  const rest = names.filter((name) => !key.includes(name));
  const list = (prefix: string, of: string[]) => of.map((name) => `${prefix}${name}`).join(', ');
  return `
with new as (select distinct on (${list('', key)}) * from json_to_recordset($3::json) as n (${columns})
  order by ${list('', key)}),
gone as (
  delete from ${table} t where $4::boolean and t.device_id = $1
    and not exists (select from new n where (${list('n.', key)}) = (${list('t.', key)}))
  returning 1),
written as (
  insert into ${table} as t (device_id, org_id, ${list('', names)}) select $1, $2, ${list('n.', names)} from new n
  on conflict (device_id, ${list('', key)}) do update set ${rest.map((name) => `${name} = excluded.${name}`).join(', ')}
  where (${list('t.', rest)}) is distinct from (${list('excluded.', rest)})
  returning (xmax = 0) as added)
select (select count(*) from gone) as removed, (select count(*) from written where added) as added`;
}

/** A truncated list (`complete: false`) removes nothing. */
export async function replaceRows(
  ctx: Context,
  owner: Owner,
  table: keyof typeof TABLES,
  rows: Rows,
  complete: boolean | undefined,
): Promise<{ added: number; removed: number }> {
  const values = [owner.id, owner.orgId, JSON.stringify(rows), complete !== false];
  const { rows: counts } = await ctx.sql<{ added: number; removed: number }>(statement(table), values);
  return counts[0] ?? { added: 0, removed: 0 };
}

/** Records when each address of the machine's own interfaces was first and last reported. */
export async function replaceAddresses(ctx: Context, owner: Owner, addresses: readonly string[]): Promise<void> {
  const known = [...new Set(addresses)].filter((address) => address !== '').sort();
  // reach: the agent's own device, which its token names
  await ctx.sql(
    `insert into device_ip_history (device_id, org_id, ip, kind) select $1, $2, ip, 'interface' from unnest($3::text[]) ip
     on conflict (device_id, org_id, kind, ip) do update set last_seen_at = now()`,
    [owner.id, owner.orgId, known],
  );
}
