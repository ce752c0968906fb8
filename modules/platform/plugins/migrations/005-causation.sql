-- What led to a message: a plugin does not hear what follows from its own work, and nothing that lies too deep.

alter table plugin_queue drop column depth, add column causation jsonb;

create or replace function plugin_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform app_must_reach(array(select (g ->> 'org_id')::uuid from jsonb_array_elements(given) g));
  insert into plugin_queue (installation_id, org_id, key, kind, body, causation)
  select i.id, e.org_id, 'event:' || e.id, 'event', e.body::json, e.causation
  from jsonb_to_recordset(given) as e (id uuid, org_id uuid, kind text, causation jsonb, body text)
    cross join lateral plugins_serving(e.org_id) i
  where i.enabled and i.listens @> array[e.kind] and not (e.causation -> 'by' ? ('plugins:' || i.id))
  on conflict do nothing;
end $$;
