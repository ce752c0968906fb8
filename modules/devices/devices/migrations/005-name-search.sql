-- Devices by a part of their names, the best first, for the global search.
--
-- As in 003: a tenant's own query could not use the trigram indexes, so a function of the owner's finds the ids, held to the
-- announced organizations, and the caller's query meets the policy of `devices` once more.

create index devices_org_display_name on devices (org_id, lower(display_name) collate "C", id) where display_name is not null;

-- `place` is 0 for a name that is the term, 1 for one that begins with it, 2 for one that holds it. The first two are found in
-- the order of the names, organization by organization, reading no more than can be shown. Only when these are too few the
-- others are looked for: of more than a thousand an index gives, those that it gives first.
-- `at_sites` is null for all; `reached` is null for every organization.
create function find_named_devices(reached uuid[], at_sites uuid[], term text, wanted integer)
returns table (device_id uuid, place integer)
language plpgsql stable parallel restricted rows 50
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  needle constant text := lower(term);
  escaped constant text := replace(replace(replace(needle, '\', '\\'), '%', '\%'), '_', '\_');
  beginning constant text := escaped || '%';
  holding constant text := '%' || escaped || '%';
  places constant uuid[] := coalesce(reached, array(select o.id from organizations o));
  known integer;
begin
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

create function named_devices(at_sites uuid[], term text, wanted integer)
returns table (device_id uuid, place integer)
language sql stable security definer parallel restricted rows 50 set search_path = public, pg_temp as
$$ select f.device_id, f.place from find_named_devices(app_org_ids(), at_sites, term, wanted) f $$;

revoke all on function find_named_devices(uuid[], uuid[], text, integer), named_devices(uuid[], text, integer) from public;
grant execute on function find_named_devices(uuid[], uuid[], text, integer) to quartermaster_platform;
grant execute on function named_devices(uuid[], text, integer) to quartermaster_app, quartermaster_platform;
