-- Creates a delivery for each active webhook that listens to an event, in the commit that emits the event (slot events.outbox).
-- Refuses events of organizations that the work does not reach.
create or replace function webhook_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform app_must_reach(array(select (g ->> 'org_id')::uuid from jsonb_array_elements(given) g));
  with event as (
    select * from jsonb_to_recordset(given)
      as e (id uuid, kind text, org_id uuid, site_id uuid, device_id uuid, severity text, matches text[], body text)),
  due as materialized (
    select gen_random_uuid() as delivery_id, w.id as webhook_id, e.*
    from event e
      join organizations o on o.id = e.org_id
      join webhooks w on w.org_id = o.id or w.partner_id = o.partner_id
    where w.status = 'active' and w.deleted_at is null and w.events && e.matches
      and (not w.filters ? 'siteIds' or w.filters -> 'siteIds' ? e.site_id::text)
      and (not w.filters ? 'severities' or e.severity is null or w.filters -> 'severities' ? e.severity)
      and (not w.filters ? 'groupIds' or exists (
        select from device_group_members m
        where m.device_id = e.device_id and not m.is_excluded and w.filters -> 'groupIds' ? m.group_id::text))),
  made as (
    insert into webhook_deliveries (id, webhook_id, org_id, site_id, device_id, event_id, event_type, message_id, payload)
    select delivery_id, webhook_id, org_id, site_id, device_id, id, kind, 'msg_' || delivery_id, body::json from due)
  insert into webhook_queue (id, webhook_id, org_id)
  select delivery_id, webhook_id, org_id from due;
end $$;
