/** A large fleet made straight in the database: the same for the same seed, whatever the machine. */
import { organization, type Tenant, tenant } from '#test';
import type { Ground } from './ground.ts';

export interface FleetSize {
  devices: number;
  organizations: number;
  /** Rows of software a device; at most 20. */
  software: number;
  seed: number;
}
export interface Fleet extends Tenant {
  orgIds: string[];
}

/** Hashes of PostgreSQL are the same on every machine of one kind; random() would depend on the order of the rows. */
const hash = (of: string) => `abs(hashtextextended(${of}, $1)) % 1000000007`;
const BATCH = 10_000;

const DEVICES = `
insert into devices (org_id, site_id, agent_id, hostname, display_name, os_type, os_version, os_build, architecture, lifecycle,
  agent_version, enrolled_at, tags, custom_fields)
select p.org_id, p.site_id, encode(sha256(('fleet ' || n)::bytea), 'hex'),
  (array['ber','muc','ham','par','lyo','lon','rom','mad','vie','zrh'])[1 + h % 10] || '-'
    || (array['ws','ws','ws','lap','lap','srv','kiosk','pos'])[1 + h / 10 % 8] || '-' || lpad(n::text, 6, '0'),
  case when h % 3 = 0 then 'Machine of person ' || h % 5000 end,
  (array['windows','windows','windows','macos','linux'])[1 + h / 100 % 5], '10.0.' || h % 7, (19041 + h % 9)::text,
  (array['x64','x64','x64','arm64'])[1 + h / 7 % 4], case when h % 97 = 0 then 'quarantined' else 'active' end,
  '1.' || h % 5 || '.0', now() - (h % 700) * interval '1 day',
  case when h % 4 = 0 then array['rack-' || h % 40, 'blue'] else '{}'::text[] end,
  case when h % 5 = 0 then jsonb_build_object('rack', 'R' || h % 100) else '{}' end
from (select n, ${hash(`'device ' || n`)} as h from generate_series(1, $2::int) n) g
join (select s.id as site_id, s.org_id, row_number() over (order by o.slug, o.id) - 1 as number, count(*) over () as places
  from sites s join organizations o on o.id = s.org_id where s.org_id = any($3::uuid[])) p on p.number = g.h % p.places`;

const STATES = `
insert into device_state (device_id, org_id, connectivity, last_seen_at, last_seen_ip, lan_ip, latest_metrics, metrics_at)
select id, org_id, case when h % 5 = 0 then 'offline' else 'online' end, now() - (h % 90000) * interval '1 minute',
  '198.51.100.' || h % 250, '10.0.' || h % 250 || '.' || h % 249,
  jsonb_build_object('cpuPercent', h % 1000 / 10.0, 'ramPercent', h / 10 % 1000 / 10.0, 'diskPercent', h / 100 % 1000 / 10.0,
    'ramUsedMb', h % 16000, 'diskUsedGb', h % 500, 'networkInBps', h % 100000, 'networkOutBps', h % 90000,
    'diskReadBps', h % 1000, 'diskWriteBps', h % 2000, 'processCount', h % 300), now()
from (select id, org_id, ${hash(`'state ' || agent_id`)} as h from devices) d`;

const HARDWARE = `
insert into device_hardware (device_id, org_id, manufacturer, model, serial_number, cpu_model, cpu_cores, ram_total_mb, disk_total_gb)
select id, org_id, (array['Dell Inc.','HP','Lenovo','Apple'])[1 + h % 4], 'Model ' || h % 60, upper(substr(agent_id, 1, 10)),
  'Intel Core i' || 3 + h % 4 * 2, 4 + h % 5 * 4, 8192 * (1 + h % 4), 256 * (1 + h % 4) - 0.1
from (select id, org_id, agent_id, ${hash(`'hardware ' || agent_id`)} as h from devices) d`;

const INTERFACES = `
insert into device_network_interfaces (device_id, org_id, name, mac_address, ipv4, is_primary, public_ip)
select id, org_id, 'eth0', substr(agent_id, 1, 12), array['10.' || h % 250 || '.' || h % 249 || '.' || h % 248], true,
  '198.51.100.' || h % 250
from (select id, org_id, agent_id, ${hash(`'network ' || agent_id`)} as h from devices) d`;

// Of each maker one product: half of the devices have its best known one, the others one of fifteen.
const SOFTWARE = `
insert into device_software (device_id, org_id, name, version, vendor)
select d.id, d.org_id, v.maker || ' '
  || (array['Office','Browser','Updater','Reader','Runtime','Player','Archiver','Client','Agent','Driver','Toolkit','Studio',
    'Desktop','Viewer','Editor'])[1 + case when h % 2 = 0 then 0 else h / 2 % 15 end], h % 30 || '.' || h % 7, v.maker
from (select id, org_id, agent_id from devices order by agent_id limit ${BATCH} offset $3::int) d
cross join unnest(array['Microsoft','Mozilla','Google','Adobe','Oracle','VideoLAN','Pavlov','Zoom','Cisco','Dell','Intel','NVIDIA',
  'GitHub','JetBrains','Docker','HashiCorp','Autodesk','Citrix','TeamViewer','Notepad']) with ordinality v (maker, k)
cross join lateral (select ${hash(`v.k || ' software ' || d.agent_id`)} as h) x
where v.k <= $2::int`;

/** One partner whose user reaches all organizations. The database should hold no other devices. */
export async function makeFleet(ground: Ground, { devices, organizations, software, seed }: FleetSize): Promise<Fleet> {
  const made = await tenant(ground);
  const orgIds = [made.orgId];
  while (orgIds.length < organizations) orgIds.push((await organization(ground, made.partnerId)).orgId);
  await ground.sql(
    `insert into sites (org_id, name) select o, 'Site ' || n from unnest($1::uuid[]) o, generate_series(2, 4) n`,
    [orgIds],
  );
  await ground.sql(DEVICES, [seed, devices, orgIds]);
  for (const text of [STATES, HARDWARE, INTERFACES]) await ground.sql(text, [seed]);
  await withoutIndexes(ground, 'device_software', async () => {
    for (let done = 0; done < devices; done += BATCH) await ground.sql(SOFTWARE, [seed, software, done]);
  });
  await ground.sql('vacuum analyze');
  return { ...made, orgIds };
}

/** Millions of rows are written in a third of the time when indexes and references are made afterwards. */
async function withoutIndexes(ground: Ground, table: string, write: () => Promise<void>): Promise<void> {
  const references = await ground.sql<{ name: string; text: string }>(
    `select conname as name, pg_get_constraintdef(oid) as text from pg_constraint where conrelid = $1::regclass and contype = 'f'`,
    [table],
  );
  const indexes = await ground.sql<{ name: string; text: string }>(
    `select i.indexrelid::regclass::text as name, pg_get_indexdef(i.indexrelid) as text from pg_index i
     where i.indrelid = $1::regclass and not exists (select from pg_constraint c where c.conindid = i.indexrelid)`,
    [table],
  );
  for (const { name } of references) await ground.sql(`alter table ${table} drop constraint ${name}`);
  for (const { name } of indexes) await ground.sql(`drop index ${name}`);
  await write();
  for (const { text } of indexes) await ground.sql(text);
  for (const { name, text } of references) await ground.sql(`alter table ${table} add constraint ${name} ${text}`);
}
