-- The names of its groups are shown with each device that can be followed (core's track_changes).
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
