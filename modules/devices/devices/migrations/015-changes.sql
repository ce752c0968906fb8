-- Devices and the software on them can be followed (core's track_changes). A row of the list of devices is made of several
-- tables; of the one that every heartbeat rewrites only what people would call a change counts.
create index devices_org_order on devices (org_id, id);
create index device_software_org_order on device_software (org_id, id);

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

-- Names of organization and site, and the site's time zone, are shown with each device.
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

call track_changes('device_software', 'software', site => '(select d.site_id from devices d where d.id = device_id)',
  groups => 'groups_of_device(device_id)',
  shown => 'org_id, device_id, name, version, vendor, install_date, install_location, first_seen_at');

-- Software goes in and out of sight with its device.
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

-- The same with groups, where somebody is limited to them; nobody else's sight depends on a membership.
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
