-- What led to an event: shown in histories, and asked by what acts on events so that chains of reactions end.

alter table events
  -- null in events from before this migration: each stands alone
  add column correlation_id uuid,
  add column causation_id uuid,
  add column depth smallint not null default 0,
  -- what acted on the way, such as plugins:<id>
  add column caused_by text[] not null default '{}';
create index events_correlation on events (org_id, correlation_id) where correlation_id is not null;

create or replace function flush_effects(effects jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  notice jsonb;
begin
  if app_is_tenant() then
    perform app_must_reach(array(
      select (a ->> 'orgId')::uuid from jsonb_array_elements(effects -> 'audits') a
      union select (e ->> 'orgId')::uuid from jsonb_array_elements(effects -> 'events') e
      union select (j -> 'payload' ->> 'orgId')::uuid from jsonb_array_elements(effects -> 'jobs') j));
    if exists (
      select from jsonb_array_elements(effects -> 'audits') a where a ->> 'orgId' is null and a ->> 'partnerId' is not null
        and (a ->> 'partnerId')::uuid is distinct from app_partner_id()
        and (a ->> 'partnerId')::uuid is distinct from app_owner_partner_id()) then
      raise exception 'this work does not reach the partner' using errcode = 'insufficient_privilege';
    end if;
  end if;
  if effects ? 'audits' then
    insert into audit_outbox (org_id, partner_id, entry)
    select (a ->> 'orgId')::uuid, (a ->> 'partnerId')::uuid, a
    from jsonb_array_elements(effects -> 'audits') a;
  end if;
  if effects ? 'events' then
    insert into events (id, name, org_id, site_id, device_id, actor, data, correlation_id, causation_id, depth, caused_by)
    select (e ->> 'id')::uuid, e ->> 'name', (e ->> 'orgId')::uuid, (e ->> 'siteId')::uuid, (e ->> 'deviceId')::uuid,
           e -> 'actor', e -> 'data', (e ->> 'correlationId')::uuid, (e ->> 'causationId')::uuid,
           coalesce((e ->> 'depth')::smallint, 0), array(select jsonb_array_elements_text(e -> 'by'))
    from jsonb_array_elements(effects -> 'events') e;
  end if;
  if effects ? 'jobs' then
    perform graphile_worker.add_jobs(array(
      select row(j ->> 'task', (j -> 'payload')::json, j ->> 'queue', (j ->> 'runAt')::timestamptz,
                 (j ->> 'maxAttempts')::smallint, j ->> 'key', (j ->> 'priority')::smallint,
                 case when j ? 'flags' then array(select jsonb_array_elements_text(j -> 'flags')) end
                )::graphile_worker.job_spec
      from jsonb_array_elements(effects -> 'jobs') j));
  end if;
  if effects ? 'notices' then
    for notice in select * from jsonb_array_elements(effects -> 'notices') loop
      perform pg_notify(notice ->> 'channel', notice ->> 'payload');
    end loop;
  end if;
end $$;
