-- Software comes and goes by the hundred: what is noted of that costs one statement, not one for each row.
drop trigger track_software_in_device_software on device_software;

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
