-- Marks devices for evaluation, for each filter field that some group of the organization uses: they are evaluated as soon as
-- this transaction has committed. Modules that contribute to `filters.field` call it for their fields. Refuses
-- organizations that the work does not reach.
create or replace function mark_devices_dirty(org uuid, devices uuid[], changed text[]) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform app_must_reach(array[org]);
  if not exists (select from device_groups g where g.org_id = org and (
      (g.type = 'dynamic' and (g.filter_fields && changed or changed && array['lifecycle', 'siteId']))
      or (g.site_id is not null and 'siteId' = any(changed)))) then
    return;
  end if;
  -- A row that waits already will do, if nobody is taking it: locked by us, it cannot be taken before we are done.
  insert into device_group_dirty (org_id, device_id, fields)
  select org, d, changed from unnest(devices) d
  where not exists (
    select from device_group_dirty w where w.device_id = d and w.fields @> changed for update skip locked);
  -- One job a transaction, under a key of its own: nobody waits for anybody. Where rows lie for longer nobody takes
  -- them, and the sweep will.
  if current_setting('app.device_groups_drain', true) = org::text
     or exists (select from device_group_dirty w where w.org_id = org and w.at < now() - interval '20 seconds') then
    return;
  end if;
  perform set_config('app.device_groups_drain', org::text, true);
  perform flush_effects(jsonb_build_object('jobs', jsonb_build_array(jsonb_build_object(
    'task', 'device-groups/drain-dirty',
    'payload', jsonb_build_object('orgId', org, 'requestId', 'device-groups', 'data', '{}'::jsonb),
    'maxAttempts', 1,
    'key', format('device-groups-drain:%s:%s', org, pg_current_xact_id())))));
end $$;
