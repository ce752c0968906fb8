-- Search by the values of custom fields, for the fields that are searchable.

create index devices_custom_found on devices using gin (lower(custom_fields::text) gin_trgm_ops) with (fastupdate = off)
  where custom_fields <> '{}';

-- The index is over the values as JSON, which writes some characters with a backslash; `as_json` is the pattern for that form.
-- Each field is named by its owner, an organization or a partner, and its key. `reached` is null for every organization.
create function find_devices_with_custom_text(reached uuid[], pattern text, as_json text, owners uuid[], keys text[], wanted integer)
returns table (device_id uuid)
language plpgsql stable parallel restricted rows 100
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
begin
  return query select d.id from devices d join organizations o on o.id = d.org_id
    where (reached is null or d.org_id = any(reached)) and d.custom_fields <> '{}'
      and lower(d.custom_fields::text) like lower(as_json)
      and exists (select from jsonb_each_text(d.custom_fields) v join unnest(owners, keys) f (owner, key)
        on f.key = v.key and f.owner in (d.org_id, o.partner_id) where lower(v.value) like lower(pattern))
    limit wanted;
end $$;

create function devices_with_custom_text(pattern text, as_json text, owners uuid[], keys text[], wanted integer)
returns table (device_id uuid)
language sql stable security definer parallel restricted rows 100 set search_path = public, pg_temp as $$
  select * from find_devices_with_custom_text(app_org_ids(), pattern, as_json, owners, keys, wanted)
$$;

revoke all on function find_devices_with_custom_text(uuid[], text, text, uuid[], text[], integer),
  devices_with_custom_text(text, text, uuid[], text[], integer) from public;
grant execute on function find_devices_with_custom_text(uuid[], text, text, uuid[], text[], integer) to quartermaster_platform;
grant execute on function devices_with_custom_text(text, text, uuid[], text[], integer)
  to quartermaster_app, quartermaster_platform;
