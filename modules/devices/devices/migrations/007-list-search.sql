-- Search by name also for callers limited to device groups, and an index behind each field of the list's own search and
-- behind its order by enrollment for those who reach many organizations.

create index devices_enrolled on devices (enrolled_at, id);
create index devices_enrolled_last on devices (enrolled_at desc nulls last, id desc);

-- As in 005, with `of_groups`: null for callers who are not limited to groups, else only their members are found. Where few
-- names hold the term, these are looked for among the members; where many do, the members are looked through.
drop function named_devices(uuid[], text, integer);
drop function find_named_devices(uuid[], uuid[], text, integer);

create function find_named_devices(reached uuid[], at_sites uuid[], of_groups uuid[], term text, wanted integer)
returns table (device_id uuid, place integer)
language plpgsql stable parallel restricted rows 50
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
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
      candidates := array(select distinct m.device_id from device_group_members m
        where m.group_id = any(of_groups) and m.org_id = any(places) and not m.is_excluded);
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

-- What the list looks for beside names. No heartbeat changes these columns unless the address itself has changed, so its
-- update stays within the page (HOT) all the same.
create index device_hardware_serial_found on device_hardware using gin (lower(serial_number) gin_trgm_ops)
  with (fastupdate = off);
create index device_state_address_found on device_state
  using gin (lower(last_seen_ip) gin_trgm_ops, lower(lan_ip) gin_trgm_ops);

-- Devices with a pattern in name, serial number or address: `most` of them, a device more than once where it is found more
-- than once. As many as `most` say that there are too many for a list of ids to be the shortest way.
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
