-- What becomes of the logs of devices that move to another organization or are purged, from whatever path it is written.

-- History stays with the organization in which it happened: an event that the device reports again for another one is an
-- event of its own there, and neither counts in a row that the new organization may not see.
alter table device_event_logs drop constraint device_event_logs_device_id_source_event_id_key;
alter table device_event_logs add unique (device_id, org_id, source, event_id);

-- The hour's quota begins anew, else its row would belong to the old organization and refuse the new one's events.
create function device_logs_moved() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from device_event_quotas where device_id = new.id;
  return null;
end $$;
create trigger device_logs_moved after update of org_id on devices for each row
  when (old.org_id <> new.org_id) execute function device_logs_moved();

-- Tables in days have no foreign key: a job takes the lines of purged devices away, in parts.
create function device_logs_purged() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform flush_effects(jsonb_build_object('jobs', jsonb_agg(jsonb_build_object(
    'task', 'device-logs/forget-devices',
    'payload', jsonb_build_object('orgId', null, 'requestId', 'device-logs', 'data', jsonb_build_object('deviceIds', ids)),
    'maxAttempts', 10))))
  from (select jsonb_agg(id) as ids from (select id, row_number() over () / 500 as part from gone) p group by part) parts
  having count(*) > 0;
  return null;
end $$;
create trigger device_logs_purged after delete on devices referencing old table as gone
  for each statement execute function device_logs_purged();
revoke all on function device_logs_moved(), device_logs_purged() from public;
