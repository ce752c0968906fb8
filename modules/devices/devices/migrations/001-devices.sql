-- Devices: slowly changing data, the state that every heartbeat changes, inventory, search and the change log

create table devices (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  site_id uuid not null,
  agent_id varchar(64) unique,
  hostname varchar(255) not null check (hostname <> ''),
  display_name varchar(255),
  os_type text not null check (os_type in ('windows', 'macos', 'linux')),
  os_version varchar(100),
  os_build varchar(100),
  architecture text check (architecture in ('x64', 'x86', 'arm64')),
  device_role text not null default 'unknown' check (device_role in ('unknown', 'workstation', 'server', 'printer', 'router',
    'switch', 'firewall', 'access_point', 'phone', 'iot', 'camera', 'nas')),
  device_role_source text not null default 'agent' check (device_role_source in ('agent', 'manual')),
  is_virtual boolean not null default false,
  virtualization_platform text check (virtualization_platform in ('vmware', 'hyperv', 'virtualbox', 'qemu', 'kvm', 'xen',
    'bochs', 'parallels')),
  lifecycle text not null default 'pending' check (lifecycle in ('pending', 'active', 'quarantined', 'decommissioned')),
  maintenance_until timestamptz,
  maintenance_reason varchar(500),
  agent_version varchar(50),
  auto_update_enabled boolean not null default true,
  auto_update_confirmed_at timestamptz,
  enrolled_at timestamptz,
  enrolled_by uuid,
  enrollment_ip varchar(45),
  -- hash of the system's machine id, as the agent reports it; not a proof of identity
  machine_id varchar(128),
  tags text[] not null default '{}',
  custom_fields jsonb not null default '{}',
  quarantined_at timestamptz,
  quarantine_reason varchar(255),
  decommissioned_at timestamptz,
  decommissioned_by uuid,
  uninstall_requested_at timestamptz,
  uninstall_confirmed_at timestamptz,
  possible_replacement_of_device_id uuid references devices (id) on delete set null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- when the device was last given another name: a walk through the list by name ends with those renamed meanwhile
  renamed_at timestamptz,
  -- only the purge can follow
  purge_requested_at timestamptz,
  merged_into_device_id uuid references devices (id) on delete set null,
  -- A position in an order is compared before the row-level security policy, and thus in the index, only if the comparison
  -- consists of leakproof functions. lower() is not leakproof, so a column holds its result; otherwise each page of a walk
  -- through the list would read all rows before it.
  name_key text collate "C" generated always as (lower(hostname)) stored,
  -- when the agent reported that it is being removed by hand
  uninstall_intent_at timestamptz,
  -- prevents the removal of a site that has devices, and a device in a site of another organization
  foreign key (site_id, org_id) references sites (id, org_id),
  check ((lifecycle = 'decommissioned') = (decommissioned_at is not null)),
  constraint devices_tags_few check (cardinality(tags) <= 50),
  -- for foreign keys that include the organization
  constraint devices_id_org unique (id, org_id)
);
create index devices_org_lifecycle on devices (org_id, lifecycle);
create index devices_site on devices (site_id);
create index devices_org_hostname on devices (org_id, lower(hostname) collate "C", id);
create index devices_org_display_name on devices (org_id, lower(display_name) collate "C", id) where display_name is not null;
create index devices_org_name_key on devices (org_id, name_key, id);
-- The list of a partner, whose devices lie in many organizations.
create index devices_name_key on devices (name_key, id);
create index devices_org_enrolled on devices (org_id, enrolled_at, id);
create index devices_enrolled on devices (enrolled_at, id);
create index devices_enrolled_last on devices (enrolled_at desc nulls last, id desc);
-- Followers of the list read it in this order.
create index devices_org_order on devices (org_id, id);
create index devices_renamed on devices (renamed_at) where renamed_at is not null;
create index devices_machine on devices (org_id, machine_id) where machine_id is not null;
-- Tags are written rarely and read by every list of tags.
create index devices_tags on devices using gin (tags) with (fastupdate = off);
create index devices_custom_fields on devices using gin (custom_fields jsonb_path_ops);
create index devices_replacement on devices (possible_replacement_of_device_id)
  where possible_replacement_of_device_id is not null;
create index devices_merged on devices (merged_into_device_id) where merged_into_device_id is not null;
create index devices_gone on devices (decommissioned_at) where lifecycle = 'decommissioned';
create index devices_waiting on devices (created_at) where lifecycle = 'pending';
create index devices_maintained on devices (maintenance_until) where maintenance_until is not null;
create index devices_uninstalling on devices (uninstall_intent_at) where uninstall_intent_at is not null;
call protect_tenant('devices');

create function note_device_rename() returns trigger language plpgsql as $$
begin
  new.renamed_at := clock_timestamp();
  return new;
end $$;
create trigger note_rename before update of hostname on devices for each row
  when (lower(old.hostname) is distinct from lower(new.hostname)) execute function note_device_rename();

-- Lets one machine enroll as the device that was created for it. Only the hash of the token is stored.
create table device_provisions (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  token_hash text not null unique,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_by uuid,
  created_at timestamptz not null default now()
);
call protect_tenant('device_provisions');

-- One row for each device, rewritten by every heartbeat. Only the key and the addresses, which heartbeats rarely change, are
-- indexed, so that updates stay within the page (HOT).
create table device_state (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  connectivity text not null default 'offline' check (connectivity in ('online', 'offline')),
  -- any heartbeat, and heartbeats of the main agent
  last_seen_at timestamptz,
  main_last_seen_at timestamptz,
  last_seen_ip varchar(45),
  lan_ip varchar(45),
  main_agent_silent_since timestamptz,
  watchdog_status text check (watchdog_status in ('connected', 'failover', 'offline')),
  watchdog_version varchar(20),
  watchdog_last_seen_at timestamptz,
  helper_version varchar(20),
  updating_since timestamptz,
  updating_to_version varchar(50),
  pending_reboot boolean,
  uptime_seconds bigint,
  last_user varchar(255),
  is_headless boolean,
  battery jsonb,
  latest_metrics jsonb,
  metrics_at timestamptz,
  maintenance_active boolean not null default false,
  -- went offline together with many others: the event is delayed
  offline_held_at timestamptz
) with (fillfactor = 70);
call protect_tenant('device_state');

create table device_hardware (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  manufacturer varchar(255),
  model varchar(255),
  serial_number varchar(255),
  motherboard_serial varchar(255),
  cpu_model varchar(255),
  cpu_cores integer,
  cpu_threads integer,
  gpu_model varchar(255),
  ram_total_mb bigint,
  disk_total_gb real,
  bios_version varchar(255),
  updated_at timestamptz not null default now()
);
create index device_hardware_serial on device_hardware (org_id, serial_number) where serial_number is not null;
call protect_tenant('device_hardware');

-- The hash of the last snapshot of each kind; an equal snapshot is not written again.
create table device_snapshots (
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  kind text not null check (kind in ('hardware', 'network', 'disks', 'software', 'services')),
  hash varchar(128) not null,
  taken_at timestamptz not null default now(),
  primary key (device_id, kind)
);
call protect_tenant('device_snapshots');

create table device_network_interfaces (
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  name varchar(255) not null,
  mac_address varchar(64),
  ipv4 text[] not null default '{}',
  ipv6 text[] not null default '{}',
  is_primary boolean not null default false,
  public_ip varchar(45),
  primary key (device_id, name)
);
call protect_tenant('device_network_interfaces');

create table device_ip_history (
  id uuid primary key default gen_random_uuid(),
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  ip varchar(45) not null,
  kind text not null check (kind in ('source', 'interface')),
  first_seen_at timestamptz not null default now(),
  last_seen_at timestamptz not null default now(),
  -- when the change to this address was last written to the audit trail
  audited_at timestamptz
);
-- History stays with the organization in which it was written: a moved device can have the same address again.
create unique index device_ip_history_known on device_ip_history (device_id, org_id, kind, ip);
create index device_ip_history_device on device_ip_history (device_id, first_seen_at);
create index device_ip_history_age on device_ip_history (last_seen_at);
call protect_tenant('device_ip_history');

create table device_disks (
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  mount_point varchar(500) not null,
  device varchar(255),
  fs_type varchar(50),
  total_gb real,
  used_gb real,
  free_gb real,
  used_percent real,
  health varchar(50),
  primary key (device_id, mount_point)
);
call protect_tenant('device_disks');

create table device_software (
  id uuid primary key default gen_random_uuid(),
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  name varchar(255) not null,
  version varchar(100) not null default '',
  vendor varchar(255),
  install_date varchar(50),
  install_location varchar(1000),
  uninstall_string varchar(2000),
  first_seen_at timestamptz not null default now(),
  unique (device_id, name, version)
);
create index device_software_list on device_software (device_id, lower(name), id);
create index device_software_name on device_software (org_id, lower(name));
-- Followers of the list read it in this order.
create index device_software_org_order on device_software (org_id, id);
call protect_tenant('device_software');

create table device_services (
  id uuid primary key default gen_random_uuid(),
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  name varchar(255) not null,
  display_name varchar(255),
  state text not null,
  start_type text,
  unique (device_id, name)
);
create index device_services_list on device_services (device_id, lower(name), id);
call protect_tenant('device_services');

create table device_changes (
  id uuid primary key default gen_random_uuid(),
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  at timestamptz not null default now(),
  field varchar(50) not null,
  before text,
  after text
);
create index device_changes_device on device_changes (device_id, at desc, id);
create index device_changes_age on device_changes (at);
call protect_tenant('device_changes');

-- The latest sample of each kind that agents take, by the source that was queried where a kind has several.
create table device_reports (
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  kind text not null check (kind in ('patches', 'security', 'sessions', 'connections', 'processes')),
  source varchar(50) not null default '',
  body jsonb not null,
  hash varchar(128) not null default '',
  taken_at timestamptz not null default now(),
  primary key (device_id, kind, source)
);
call protect_tenant('device_reports');

-- ---- Search by text, tags and custom values, through indexes also under row-level security ----
--
-- Under a policy PostgreSQL applies only leakproof operators to a row before the policy has admitted it, and LIKE, && and @> are
-- not leakproof: in a tenant's own query the indexes below would never be used. The functions below run as their owner, restrict
-- themselves to the announced organizations, and return nothing but the ids of devices and the places of their rows (ctid),
-- which are the fastest way to a row. A tenant's query uses them as
--
--   ... from devices d where d.ctid = any(array(select place from devices_with_hostname_like('%srv%')))  -- in an AND, once
--   ... from devices d where d.ctid in (select place from devices_with_hostname_like('%srv%')) or ...    -- anywhere else
--
-- or with `d.id` and `device_id`, and the policy of `devices` is applied to the result as well (comparing ids and places is
-- leakproof), so an error in a function could not expose a row. Places are valid within one statement only, whose snapshot a
-- stable function shares. A unit of work that reaches every organization announces none and finds nothing here; no policy
-- restricts it, so it uses the operators. Patterns are those of LIKE: the caller escapes % _ and \ in user input. The search is
-- not case-sensitive.

create extension if not exists pg_trgm;

create index devices_hostname_found on devices using gin (lower(hostname) gin_trgm_ops) with (fastupdate = off);
create index devices_display_name_found on devices using gin (lower(display_name) gin_trgm_ops) with (fastupdate = off);

-- Every reported name of software, once: a text is matched against thousands of names instead of millions of rows. Tenants have
-- no access; they only learn which of their devices have such a name.
create table software_names (name varchar(255) primary key);
call protect_platform('software_names');
create index software_names_found on software_names using gin (lower(name) gin_trgm_ops) with (fastupdate = off);
create index device_software_found on device_software (name, org_id, device_id);

-- Inserts in the order of the names, so that two concurrent snapshots do not deadlock.
create function note_software_names() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into software_names select distinct name from added order by name on conflict do nothing;
  return null;
end $$;
create trigger note_names after insert on device_software referencing new table as added
  for each statement execute function note_software_names();

create function note_software_name() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into software_names values (new.name) on conflict do nothing;
  return null;
end $$;
create trigger note_name after update of name on device_software for each row
  when (old.name is distinct from new.name) execute function note_software_name();

-- Planned anew for each call: the number of matching rows and of reached organizations decide the plan.
create function devices_with_hostname_like(pattern text) returns table (device_id uuid, place tid)
language plpgsql stable security definer parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  reached constant uuid[] := app_org_ids();
begin
  return query select d.id, d.ctid from devices d where d.org_id = any(reached) and lower(d.hostname) like lower(pattern);
end $$;

create function devices_with_display_name_like(pattern text) returns table (device_id uuid, place tid)
language plpgsql stable security definer parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  reached constant uuid[] := app_org_ids();
begin
  return query select d.id, d.ctid from devices d where d.org_id = any(reached) and lower(d.display_name) like lower(pattern);
end $$;

-- Returns ids only: the rows that it reads have no places of devices.
create function devices_with_software_like(pattern text) returns table (device_id uuid)
language plpgsql stable security definer parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  reached constant uuid[] := app_org_ids();
  names constant varchar[] := array(select n.name from software_names n where lower(n.name) like lower(pattern));
begin
  return query select distinct w.device_id from device_software w where w.org_id = any(reached) and w.name = any(names);
end $$;

create function devices_with_any_tag(wanted text[]) returns table (device_id uuid, place tid)
language plpgsql stable security definer parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  reached constant uuid[] := app_org_ids();
begin
  return query select d.id, d.ctid from devices d where d.org_id = any(reached) and d.tags && wanted;
end $$;

create function devices_with_all_tags(wanted text[]) returns table (device_id uuid, place tid)
language plpgsql stable security definer parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  reached constant uuid[] := app_org_ids();
begin
  return query select d.id, d.ctid from devices d where d.org_id = any(reached) and d.tags @> wanted;
end $$;

-- `wanted` as {"key": value}
create function devices_with_custom_value(wanted jsonb) returns table (device_id uuid, place tid)
language plpgsql stable security definer parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  reached constant uuid[] := app_org_ids();
begin
  return query select d.id, d.ctid from devices d where d.org_id = any(reached) and d.custom_fields @> wanted;
end $$;

revoke all on function note_software_names(), note_software_name(), devices_with_hostname_like(text),
  devices_with_display_name_like(text), devices_with_software_like(text), devices_with_any_tag(text[]),
  devices_with_all_tags(text[]), devices_with_custom_value(jsonb) from public;
grant execute on function devices_with_hostname_like(text), devices_with_display_name_like(text),
  devices_with_software_like(text), devices_with_any_tag(text[]), devices_with_all_tags(text[]),
  devices_with_custom_value(jsonb) to quartermaster_app, quartermaster_platform;

-- Devices by part of their names, the best matches first, for the global search.
--
-- `place` is 0 for a name that equals the term, 1 for one that begins with it, 2 for one that contains it. The first two are found
-- in the order of the names, organization by organization, reading no more rows than can be returned. Only if these are too
-- few, the others are searched: of more than a thousand matches those that the index returns first.
-- `reached` is null for every organization, `at_sites` for every site. `of_groups` is null for callers who are not limited to
-- groups; otherwise only members are found. If few names contain the term, those are checked for membership; if many do, the
-- members are looked up one after another, since planning with a list of thousands of ids takes longer than reading them.
-- Sequential scans are disabled because the planner overestimates the cost of the index for terms with many trigrams.
create function find_named_devices(reached uuid[], at_sites uuid[], of_groups uuid[], term text, wanted integer)
returns table (device_id uuid, place integer)
language plpgsql stable parallel restricted rows 50
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan set enable_seqscan = off as $$
declare
  needle constant text := lower(term);
  escaped constant text := replace(replace(replace(needle, '\', '\\'), '%', '\%'), '_', '\_');
  beginning constant text := escaped || '%';
  holding constant text := '%' || escaped || '%';
  places constant uuid[] := coalesce(reached, array(select o.id from organizations o));
  few constant integer := 2000;
  candidates uuid[];
  known integer;
begin
  if of_groups is not null then
    candidates := array(select d.id from devices d
      where d.org_id = any(places) and (lower(d.hostname) like holding or lower(d.display_name) like holding) limit few + 1);
    if cardinality(candidates) > few then
      return query
        select f.id, f.place from (
          select d.id, lower(coalesce(d.display_name, d.hostname)) collate "C" as name,
            case when needle in (lower(d.hostname), lower(d.display_name)) then 0
              when lower(d.hostname) like beginning or lower(d.display_name) like beginning then 1 else 2 end as place
          from (select distinct m.device_id from device_group_members m
            where m.group_id = any(of_groups) and m.org_id = any(places) and not m.is_excluded) mine
          cross join lateral (select * from devices x where x.id = mine.device_id offset 0) d
          where d.org_id = any(places) and (lower(d.hostname) like holding or lower(d.display_name) like holding)
            and d.lifecycle <> 'decommissioned' and (at_sites is null or d.site_id = any(at_sites))
        ) f
        order by f.place, f.name, f.id limit wanted;
      return;
    end if;
    return query
      select f.id, f.place from (
        select d.id, lower(coalesce(d.display_name, d.hostname)) collate "C" as name,
          case when needle in (lower(d.hostname), lower(d.display_name)) then 0
            when lower(d.hostname) like beginning or lower(d.display_name) like beginning then 1 else 2 end as place
        from devices d
        where d.id = any(candidates) and d.org_id = any(places)
          and (lower(d.hostname) like holding or lower(d.display_name) like holding)
          and d.lifecycle <> 'decommissioned' and (at_sites is null or d.site_id = any(at_sites))
          and exists (select from device_group_members m
            where m.device_id = d.id and m.group_id = any(of_groups) and not m.is_excluded)
      ) f
      order by f.place, f.name, f.id limit wanted;
    return;
  end if;
  return query
    select n.id, min(case when n.name = needle then 0 else 1 end) as place
    from unnest(places) o (org_id)
    cross join lateral (
      (select d.id, lower(d.hostname) collate "C" as name from devices d
       where d.org_id = o.org_id and lower(d.hostname) collate "C" like beginning
         and d.lifecycle <> 'decommissioned' and (at_sites is null or d.site_id = any(at_sites))
       order by lower(d.hostname) collate "C", d.id limit wanted)
      union all
      (select d.id, lower(d.display_name) collate "C" as name from devices d
       where d.org_id = o.org_id and d.display_name is not null and lower(d.display_name) collate "C" like beginning
         and d.lifecycle <> 'decommissioned' and (at_sites is null or d.site_id = any(at_sites))
       order by lower(d.display_name) collate "C", d.id limit wanted)
    ) n
    group by n.id order by 2, min(n.name), n.id limit wanted;
  get diagnostics known = row_count;
  if known >= wanted then
    return;
  end if;
  return query
    select f.id, 2 from (
      select d.id, d.hostname, d.display_name from devices d
      where d.org_id = any(places) and (lower(d.hostname) like holding or lower(d.display_name) like holding)
        and not (lower(d.hostname) like beginning or coalesce(lower(d.display_name) like beginning, false))
        and d.lifecycle <> 'decommissioned' and (at_sites is null or d.site_id = any(at_sites))
      limit 1000
    ) f
    order by lower(coalesce(f.display_name, f.hostname)) collate "C", f.id limit wanted - known;
end $$;

create function named_devices(at_sites uuid[], of_groups uuid[], term text, wanted integer)
returns table (device_id uuid, place integer)
language sql stable security definer parallel restricted rows 50 set search_path = public, pg_temp as
$$ select f.device_id, f.place from find_named_devices(app_org_ids(), at_sites, of_groups, term, wanted) f $$;

-- Serial numbers and addresses, which the list searches besides names. A heartbeat changes an indexed column only when the address
-- has changed, so its update stays within the page (HOT).
create index device_hardware_serial_found on device_hardware using gin (lower(serial_number) gin_trgm_ops)
  with (fastupdate = off);
create index device_state_address_found on device_state
  using gin (lower(last_seen_ip) gin_trgm_ops, lower(lan_ip) gin_trgm_ops);

-- Up to `most` devices with a match in name, serial number or address; a device with several matches appears several times. A
-- result of `most` rows means that there are too many for a list of ids to be efficient.
create function find_devices_with_text(reached uuid[], pattern text, most integer) returns table (device_id uuid)
language plpgsql stable parallel restricted rows 1000
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  wanted constant text := lower(pattern);
  places constant uuid[] := coalesce(reached, array(select o.id from organizations o));
begin
  return query
    select f.id from (
      select d.id from devices d
      where d.org_id = any(places) and (lower(d.hostname) like wanted or lower(d.display_name) like wanted)
      union all
      select h.device_id from device_hardware h where h.org_id = any(places) and lower(h.serial_number) like wanted
      union all
      select s.device_id from device_state s
      where s.org_id = any(places) and (lower(s.last_seen_ip) like wanted or lower(s.lan_ip) like wanted)
    ) f limit most;
end $$;

create function devices_with_text_like(pattern text, most integer) returns table (device_id uuid)
language sql stable security definer parallel restricted rows 1000 set search_path = public, pg_temp as
$$ select f.device_id from find_devices_with_text(app_org_ids(), pattern, most) f $$;

revoke all on function find_named_devices(uuid[], uuid[], uuid[], text, integer),
  named_devices(uuid[], uuid[], text, integer), find_devices_with_text(uuid[], text, integer),
  devices_with_text_like(text, integer) from public;
grant execute on function find_named_devices(uuid[], uuid[], uuid[], text, integer),
  find_devices_with_text(uuid[], text, integer) to quartermaster_platform;
grant execute on function named_devices(uuid[], uuid[], text, integer), devices_with_text_like(text, integer)
  to quartermaster_app, quartermaster_platform;

-- ---- Changes of devices and software, for followers of the lists (track_changes of core) ----
-- A row of the list of devices comes from several tables. Of device_state, which every heartbeat rewrites, only columns count
-- that a user would regard as a change.

call track_changes('devices', 'devices', site => 'site_id', groups => 'groups_of_device(id)',
  shown => 'org_id, site_id, agent_id, hostname, display_name, os_type, os_version, os_build, architecture, device_role,
    device_role_source, is_virtual, virtualization_platform, lifecycle, maintenance_until, maintenance_reason, agent_version,
    auto_update_enabled, auto_update_confirmed_at, enrolled_at, enrollment_ip, tags, custom_fields, quarantined_at,
    quarantine_reason, decommissioned_at, uninstall_requested_at, uninstall_confirmed_at, uninstall_intent_at,
    possible_replacement_of_device_id, merged_into_device_id, purge_requested_at');
call track_changes('device_state', 'devices', id => 'device_id', groups => 'groups_of_device(device_id)',
  site => '(select d.site_id from devices d where d.id = device_id)',
  shown => 'org_id, connectivity, last_seen_ip, lan_ip, main_agent_silent_since, watchdog_status, watchdog_version,
    helper_version, updating_since, updating_to_version, pending_reboot, last_user, maintenance_active');
call track_changes('device_hardware', 'devices', id => 'device_id',
  shown => 'manufacturer, model, serial_number, motherboard_serial, cpu_model, cpu_cores, cpu_threads, gpu_model, ram_total_mb,
    disk_total_gb, bios_version');
call track_changes('device_network_interfaces', 'devices', id => 'device_id');
call track_changes('device_disks', 'devices', id => 'device_id');
call track_changes('device_group_members', 'devices', id => 'device_id',
  shown => 'is_pinned, is_excluded', groups => 'array[group_id]', site => '(select d.site_id from devices d where d.id = device_id)');

-- The list shows the names of organization and site, and the time zone of the site.
create function track_devices_in_organizations() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id) select 'devices', d.id, d.org_id from devices d where d.org_id = new.id;
  return null;
end $$;
create trigger track_devices after update of name on organizations for each row
  when (old.name <> new.name) execute function track_devices_in_organizations();
create function track_devices_in_sites() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id, site_id)
  select 'devices', d.id, d.org_id, d.site_id from devices d where d.site_id = new.id;
  return null;
end $$;
create trigger track_devices after update of name, timezone on sites for each row
  when (old.name <> new.name or old.timezone <> new.timezone) execute function track_devices_in_sites();

-- Software is installed and removed by the hundred: one statement records all rows.
create function track_software_rows() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id, site_id, group_ids)
  select 'software', c.id, c.org_id, of.site_id, of.group_ids
  from changed c left join (
    select d.id, d.site_id, groups_of_device(d.id) as group_ids
    from devices d where d.id in (select device_id from changed)) of on of.id = c.device_id;
  return null;
end $$;
revoke all on function track_software_rows() from public;
create trigger track_software_added after insert on device_software referencing new table as changed
  for each statement execute function track_software_rows();
create trigger track_software_removed after delete on device_software referencing old table as changed
  for each statement execute function track_software_rows();
-- Updates are rare and recorded row by row. The trigger for inserted and deleted rows, which the two above replace, is dropped.
call track_changes('device_software', 'software', site => '(select d.site_id from devices d where d.id = device_id)',
  groups => 'groups_of_device(device_id)',
  shown => 'org_id, device_id, name, version, vendor, install_date, install_location, first_seen_at');
drop trigger track_software_in_device_software on device_software;

-- Software becomes visible and invisible with its device.
create function track_software_in_devices() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id, site_id, group_ids)
  select 'software', s.id, s.org_id, place.site_id, groups_of_device(new.id)
  from device_software s cross join (select old.site_id union select new.site_id) place (site_id)
  where s.device_id = new.id;
  return null;
end $$;
create trigger track_software after update of site_id, lifecycle on devices for each row
  when (old.site_id <> new.site_id or (old.lifecycle = 'decommissioned') <> (new.lifecycle = 'decommissioned'))
  execute function track_software_in_devices();

-- The same for groups, if some user is limited to the group; the access of other users does not depend on memberships.
create function track_software_in_members() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  member device_group_members := case when tg_op = 'DELETE' then old else new end;
begin
  if exists (select from organization_users u where u.org_id = member.org_id and member.group_id = any(u.device_group_ids)) then
    insert into sync_changes (kind, id, org_id, site_id, group_ids)
    select 'software', s.id, s.org_id, d.site_id, array[member.group_id]
    from device_software s join devices d on d.id = s.device_id where s.device_id = member.device_id;
  end if;
  return null;
end $$;
create trigger track_software after insert or delete or update of is_excluded on device_group_members for each row
  execute function track_software_in_members();
revoke all on function track_devices_in_organizations(), track_devices_in_sites(), track_software_in_devices(),
  track_software_in_members() from public;
