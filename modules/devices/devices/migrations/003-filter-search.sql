-- Searching devices by text, tags and custom values through indexes, also under row-level security.
--
-- Under a policy PostgreSQL may give a row only to leakproof operators before the policy has let it pass, and LIKE, && and
-- @> are not leakproof: in a tenant's own query the indexes below would never be used. The functions below run as their
-- owner, hold themselves to the announced organizations, and give back nothing but devices' ids and the places of their
-- rows (ctid), from where the way to a row is shortest. A tenant's query takes them as
--
--   ... from devices d where d.ctid = any(array(select place from devices_with_hostname_like('%srv%')))  -- in an AND, once
--   ... from devices d where d.ctid in (select place from devices_with_hostname_like('%srv%')) or ...    -- anywhere else
--
-- or with `d.id` and `device_id`, and meets the policy of `devices` once more (comparing ids and places is leakproof), so a
-- fault in a function could show no row either. Places hold for the one statement, whose snapshot a stable function shares:
-- they must not be kept. Work that reaches every organization has none announced and finds nothing here: no policy is in
-- its way, it uses the operators. Patterns are those of LIKE: whoever makes one from what a person typed escapes % _ and \
-- first. Case does not count.

create extension if not exists pg_trgm;

create index devices_hostname_found on devices using gin (lower(hostname) gin_trgm_ops) with (fastupdate = off);
create index devices_display_name_found on devices using gin (lower(display_name) gin_trgm_ops) with (fastupdate = off);

-- Every name of software that was ever reported, once: a text is looked for among thousands of names, not among millions of
-- rows. Out of the tenants' reach, who only learn which of their devices have such a name.
create table software_names (name varchar(255) primary key);
call protect_platform('software_names');
insert into software_names select distinct name from device_software;
create index software_names_found on software_names using gin (lower(name) gin_trgm_ops) with (fastupdate = off);
create index device_software_found on device_software (name, org_id, device_id);

-- In the order of the names, so that two snapshots at once wait for each other one way only.
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

-- Planned anew for each call: how many rows a pattern finds and how many organizations are reached decide the plan.
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

-- Only ids: what it reads holds no places of devices.
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
