-- Queues an event for each installation that listens to it, in the commit that emits the event (slot events.outbox). A plugin
-- does not receive events that it caused itself. Refuses events of organizations that the work does not reach.
create or replace function plugin_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform app_must_reach(array(select (g ->> 'org_id')::uuid from jsonb_array_elements(given) g));
  insert into plugin_queue (installation_id, org_id, key, kind, body, depth)
  select i.id, e.org_id, 'event:' || e.id, 'event', e.body::json, e.depth
  from jsonb_to_recordset(given) as e (id uuid, org_id uuid, kind text, actor_id text, depth integer, body text)
    cross join lateral plugins_serving(e.org_id) i
  where i.enabled and i.listens @> array[e.kind] and i.id::text is distinct from e.actor_id
  on conflict do nothing;
end $$;
