-- Devices: what changes slowly, what every heartbeat changes, and what hangs below (domain/devices, sections 1 and 6)

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
  -- hash of the system's machine id, as the agent gives it; a hint, never a proof
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
  -- keeps a site from being removed while devices lie in it, and a device from lying in a foreign organization's site
  foreign key (site_id, org_id) references sites (id, org_id),
  check ((lifecycle = 'decommissioned') = (decommissioned_at is not null))
);
create index devices_org_lifecycle on devices (org_id, lifecycle);
create index devices_site on devices (site_id);
create index devices_org_hostname on devices (org_id, lower(hostname) collate "C", id);
-- serves the list of a partner, whose devices lie in many organizations
create index devices_hostname on devices (lower(hostname) collate "C", id);
create index devices_org_enrolled on devices (org_id, enrolled_at, id);
create index devices_machine on devices (org_id, machine_id) where machine_id is not null;
create index devices_tags on devices using gin (tags);
create index devices_custom_fields on devices using gin (custom_fields jsonb_path_ops);
create index devices_replacement on devices (possible_replacement_of_device_id)
  where possible_replacement_of_device_id is not null;
create index devices_gone on devices (decommissioned_at) where lifecycle = 'decommissioned';
call protect_tenant('devices');

-- One row a device, rewritten by every heartbeat. No index but the key, so that updates stay within the page (HOT).
create table device_state (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  connectivity text not null default 'offline' check (connectivity in ('online', 'offline')),
  -- any beat, and beats of the main agent
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
  -- went offline together with many others: its event is held back for a while
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

-- The hash of the last snapshot of each kind; an equal one is not written again.
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
  audited_at timestamptz,
  unique (device_id, kind, ip)
);
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

-- No foreign key: it would be checked for every sample. A purge removes the rows, age drops whole days.
create table device_metrics (
  device_id uuid not null,
  ts timestamptz not null,
  org_id uuid not null,
  cpu_percent real,
  ram_percent real,
  ram_used_mb bigint,
  disk_percent real,
  disk_used_gb real,
  network_in_bps double precision,
  network_out_bps double precision,
  disk_read_bps double precision,
  disk_write_bps double precision,
  process_count integer,
  primary key (device_id, ts)
) partition by range (ts);
call protect_tenant('device_metrics');
select ensure_daily_partitions('device_metrics', 7);

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
