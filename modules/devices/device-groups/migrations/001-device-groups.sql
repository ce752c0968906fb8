-- Groups of devices, their history, and the queue of devices to evaluate again

create table device_groups (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  site_id uuid,
  name varchar(255) not null check (name <> ''),
  description varchar(1000),
  type text not null check (type in ('static', 'dynamic')),
  parent_id uuid,
  -- a condition tree as submitted; validated before it is written and whenever it is used
  filter jsonb,
  filter_id uuid,
  filter_fields text[] not null default '{}',
  evaluation_mode text check (evaluation_mode in ('event', 'periodic', 'mixed')),
  evaluation_status text not null default 'ready' check (evaluation_status in ('ready', 'evaluating', 'error')),
  last_evaluated_at timestamptz,
  last_evaluation_error varchar(500),
  -- failures since the last evaluation that succeeded
  evaluation_failures integer not null default 0,
  -- since when the removal of most members has been held back
  held_since timestamptz,
  device_count integer not null default 0,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (id, org_id),
  foreign key (site_id, org_id) references sites (id, org_id),
  foreign key (parent_id, org_id) references device_groups (id, org_id),
  check ((type = 'dynamic') = (filter is not null)),
  check ((type = 'dynamic') = (evaluation_mode is not null)),
  check (parent_id <> id)
);
create unique index device_groups_name
  on device_groups (org_id, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'), lower(name));
create index device_groups_list on device_groups (org_id, lower(name), id);
create index device_groups_type on device_groups (org_id, type);
create index device_groups_parent on device_groups (parent_id, org_id) where parent_id is not null;
create index device_groups_site on device_groups (site_id, org_id) where site_id is not null;
call protect_tenant('device_groups');

-- Neither a group nor a membership spans organizations: both foreign keys include the organization.
alter table device_group_members
  add constraint device_group_members_of_group foreign key (group_id, org_id)
    references device_groups (id, org_id) on delete cascade,
  add constraint device_group_members_of_device foreign key (device_id, org_id)
    references devices (id, org_id) on delete cascade;

-- Has no foreign keys: the log outlives groups and devices, and keeps their names.
create table device_group_membership_log (
  id uuid not null default gen_random_uuid(),
  group_id uuid not null,
  device_id uuid not null,
  org_id uuid not null,
  group_name varchar(255) not null,
  hostname varchar(255) not null,
  action text not null check (action in ('added', 'removed')),
  reason text not null check (reason in ('manual', 'filter_match', 'filter_unmatch', 'pinned', 'unpinned', 'excluded',
    'group_created', 'group_deleted', 'device_moved', 'device_removed', 'enrollment')),
  actor_type text not null check (actor_type in ('user', 'api_key', 'agent', 'system')),
  actor_id uuid,
  -- identifies the rows that one evaluation wrote
  evaluation_id uuid,
  created_at timestamptz not null default now()
) partition by range (created_at);
create index device_group_membership_log_group on device_group_membership_log (group_id, created_at desc, id desc);
call protect_tenant('device_group_membership_log');
revoke update, delete on device_group_membership_log from quartermaster_app, quartermaster_platform;
select ensure_daily_partitions('device_group_membership_log', 7);

-- Devices with a change in a field that some group of their organization uses. Rows are only inserted: merging rows would make
-- writers, heartbeats among them, wait for each other and for the evaluation.
create table device_group_dirty (
  id bigint generated always as identity primary key,
  org_id uuid not null,
  device_id uuid not null,
  fields text[] not null,
  at timestamptz not null default now()
);
create index device_group_dirty_org on device_group_dirty (org_id, id);
create index device_group_dirty_device on device_group_dirty (device_id);
call protect_tenant('device_group_dirty');

-- Changes of devices, whatever code path makes them. What every heartbeat changes (last seen, metrics) is not tracked: groups that
-- use those fields are evaluated periodically.

-- Marks devices for evaluation, for each filter field that some group of the organization uses: they are evaluated as soon as
-- this transaction has committed. Modules that contribute to `filters.field` call it for their fields.
create function mark_devices_dirty(org uuid, devices uuid[], changed text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from device_groups g where g.org_id = org and (
      (g.type = 'dynamic' and (g.filter_fields && changed or changed && array['lifecycle', 'siteId']))
      or (g.site_id is not null and 'siteId' = any(changed)))) then
    return;
  end if;
  -- A row that waits already will do, if nobody is taking it: locked by us, it cannot be taken before we are done.
  insert into device_group_dirty (org_id, device_id, fields)
  select org, d, changed from unnest(devices) d
  where not exists (
    select from device_group_dirty w where w.device_id = d and w.fields @> changed for update skip locked);
  -- One job a transaction, under a key of its own: nobody waits for anybody. Where rows lie for longer nobody takes
  -- them, and the sweep will.
  if current_setting('app.device_groups_drain', true) = org::text
     or exists (select from device_group_dirty w where w.org_id = org and w.at < now() - interval '20 seconds') then
    return;
  end if;
  perform set_config('app.device_groups_drain', org::text, true);
  perform flush_effects(jsonb_build_object('jobs', jsonb_build_array(jsonb_build_object(
    'task', 'device-groups/drain-dirty',
    'payload', jsonb_build_object('orgId', org, 'requestId', 'device-groups', 'data', '{}'::jsonb),
    'maxAttempts', 1,
    'key', format('device-groups-drain:%s:%s', org, pg_current_xact_id())))));
end $$;

-- Changes of the members of a group are serialized by a lock for each group; code that needs several locks takes them in the
-- order of the ids (services/evaluating/turns.ts uses the same key).
create function take_device_group_turn(group_id uuid) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('device-group:' || group_id, 0)) $$;

-- Removes a device from every group, pins and exclusions included.
create function leave_device_groups(device uuid, host text, why text) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  mine constant uuid[] := array(select m.group_id from device_group_members m where m.device_id = device order by 1);
begin
  if mine = '{}' then
    return;
  end if;
  perform take_device_group_turn(g) from unnest(mine) g;
  with gone as (
    delete from device_group_members m where m.device_id = device returning m.group_id, m.org_id, m.is_excluded),
  logged as (
    insert into device_group_membership_log (group_id, device_id, org_id, group_name, hostname, action, reason, actor_type)
    select g.id, device, g.org_id, g.name, host, 'removed', why, 'system'
    from gone join device_groups g on g.id = gone.group_id where not gone.is_excluded)
  update device_groups g set device_count = greatest(0, g.device_count - 1) from gone
  where g.id = gone.group_id and not gone.is_excluded;
end $$;

create function device_joined() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_devices_dirty(new.org_id, array[new.id], array['lifecycle']);
  return null;
end $$;
create trigger device_groups_joined after insert on devices for each row execute function device_joined();

-- Runs before the row changes, because a membership must never refer to another organization.
create function device_moves() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform leave_device_groups(old.id, old.hostname, 'device_moved');
  return new;
end $$;
create trigger device_groups_moves before update of org_id on devices for each row
  when (old.org_id <> new.org_id) execute function device_moves();

create function device_leaves() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform leave_device_groups(new.id, new.hostname, 'device_removed');
  return null;
end $$;
create trigger device_groups_leaves after update of lifecycle on devices for each row
  when (old.lifecycle <> 'decommissioned' and new.lifecycle = 'decommissioned') execute function device_leaves();

create function device_changed() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_devices_dirty(new.org_id, array[new.id], array_remove(array[
    case when new.hostname is distinct from old.hostname then 'hostname' end,
    case when new.display_name is distinct from old.display_name then 'displayName' end,
    case when new.agent_version is distinct from old.agent_version then 'agentVersion' end,
    case when new.enrolled_at is distinct from old.enrolled_at then 'enrolledAt' end,
    case when new.tags is distinct from old.tags then 'tags' end,
    case when new.os_type is distinct from old.os_type then 'osType' end,
    case when new.os_version is distinct from old.os_version then 'osVersion' end,
    case when new.os_build is distinct from old.os_build then 'osBuild' end,
    case when new.architecture is distinct from old.architecture then 'architecture' end,
    case when new.site_id is distinct from old.site_id then 'siteId' end,
    case when new.lifecycle is distinct from old.lifecycle or new.org_id is distinct from old.org_id then 'lifecycle' end,
    case when new.maintenance_until is distinct from old.maintenance_until then 'status' end], null)
    || array(select 'custom.' || k from jsonb_object_keys(old.custom_fields || new.custom_fields) k
        where old.custom_fields -> k is distinct from new.custom_fields -> k));
  return null;
end $$;
create trigger device_groups_changed after update on devices for each row
  when ((old.hostname, old.display_name, old.agent_version, old.enrolled_at, old.tags, old.os_type, old.os_version,
      old.os_build, old.architecture, old.site_id, old.org_id, old.lifecycle, old.maintenance_until, old.custom_fields)
    is distinct from (new.hostname, new.display_name, new.agent_version, new.enrolled_at, new.tags, new.os_type,
      new.os_version, new.os_build, new.architecture, new.site_id, new.org_id, new.lifecycle, new.maintenance_until,
      new.custom_fields))
  execute function device_changed();

-- device_state is rewritten by every heartbeat: the condition is the only cost of a heartbeat that changes nothing.
create function device_state_changed() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_devices_dirty(new.org_id, array[new.device_id], array_remove(array[
    case when new.connectivity <> old.connectivity or new.maintenance_active <> old.maintenance_active
      or (new.updating_since is null) <> (old.updating_since is null) then 'status' end,
    case when new.last_seen_ip is distinct from old.last_seen_ip then 'network.publicIp' end,
    case when new.lan_ip is distinct from old.lan_ip then 'network.ipAddress' end], null));
  return null;
end $$;
create trigger device_groups_changed after update on device_state for each row
  when (old.connectivity <> new.connectivity or old.maintenance_active <> new.maintenance_active
    or (old.updating_since is null) <> (new.updating_since is null)
    or old.last_seen_ip is distinct from new.last_seen_ip or old.lan_ip is distinct from new.lan_ip)
  execute function device_state_changed();

-- For tables with rows of devices, one call for each statement; the arguments are the filter fields that read the table.
create function device_rows_changed() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform mark_devices_dirty(c.org_id, array_agg(distinct c.device_id), tg_argv) from changed c group by c.org_id;
  return null;
end $$;
create trigger device_groups_added after insert on device_hardware referencing new table as changed
  for each statement execute function device_rows_changed('hardware.manufacturer', 'hardware.model',
    'hardware.serialNumber', 'hardware.cpuModel', 'hardware.cpuCores', 'hardware.gpuModel', 'hardware.ramTotalMb',
    'hardware.diskTotalGb');
create trigger device_groups_changed after update on device_hardware referencing new table as changed
  for each statement execute function device_rows_changed('hardware.manufacturer', 'hardware.model',
    'hardware.serialNumber', 'hardware.cpuModel', 'hardware.cpuCores', 'hardware.gpuModel', 'hardware.ramTotalMb',
    'hardware.diskTotalGb');
create trigger device_groups_added after insert on device_network_interfaces referencing new table as changed
  for each statement execute function device_rows_changed('network.ipAddress', 'network.publicIp', 'network.macAddress');
create trigger device_groups_changed after update on device_network_interfaces referencing new table as changed
  for each statement execute function device_rows_changed('network.ipAddress', 'network.publicIp', 'network.macAddress');
create trigger device_groups_removed after delete on device_network_interfaces referencing old table as changed
  for each statement execute function device_rows_changed('network.ipAddress', 'network.publicIp', 'network.macAddress');
-- The name is part of the row's key, so an update never changes which software is installed.
create trigger device_groups_added after insert on device_software referencing new table as changed
  for each statement execute function device_rows_changed('software.installed', 'software.notInstalled');
create trigger device_groups_removed after delete on device_software referencing old table as changed
  for each statement execute function device_rows_changed('software.installed', 'software.notInstalled');

revoke all on function mark_devices_dirty(uuid, uuid[], text[]), leave_device_groups(uuid, text, text), device_joined(),
  device_moves(), device_leaves(), device_changed(), device_state_changed(), device_rows_changed() from public;
grant execute on function mark_devices_dirty(uuid, uuid[], text[]) to quartermaster_app, quartermaster_platform;

-- The list of devices that can be followed shows the names of the groups of each device (track_changes of core).
create function track_devices_in_groups() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id)
  select 'devices', m.device_id, m.org_id from device_group_members m where m.group_id = new.id;
  return null;
end $$;
create trigger track_devices after update of name on device_groups for each row
  when (old.name <> new.name) execute function track_devices_in_groups();
revoke all on function track_devices_in_groups() from public;
