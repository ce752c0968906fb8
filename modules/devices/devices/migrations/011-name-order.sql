-- The order of names under row-level security, and a search through the members of large groups.

-- A position in an order is compared before the policy, and so in the index, only where nothing but leakproof functions stand
-- in the comparison, and lower() is none: a column holds what it gives. Without, each page of a walk through the list reads
-- all those before it.

alter table devices add column name_key text collate "C" generated always as (lower(hostname)) stored;
drop index devices_hostname;
create index devices_name_key on devices (name_key, id);
create index devices_org_name_key on devices (org_id, name_key, id);

-- As in 007, but the members are looked up one after another, where a list of thousands of ids took longer to plan than to read.
create or replace function find_named_devices(reached uuid[], at_sites uuid[], of_groups uuid[], term text, wanted integer)
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
