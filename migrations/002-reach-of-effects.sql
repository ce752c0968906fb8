-- What functions that run as the owner compare with, since row-level security does not hold them: the reach of the work that calls.

-- Whether the work runs in the tenants' role, also within functions that run as the owner. A login of its own has no role set.
create function app_is_tenant() returns boolean language sql stable parallel safe as
$$ select pg_has_role(u.name, 'quartermaster_app', 'usage') and not pg_has_role(u.name, 'quartermaster_platform', 'usage')
   from (select coalesce(nullif(current_setting('role'), 'none'), session_user::text) as name) u $$;

-- Whether the work may act for an organization: the platform for each, tenants for those that they have announced.
create function app_reaches(org uuid) returns boolean language sql stable parallel safe as
$$ select not app_is_tenant() or coalesce(org = any(app_org_ids()), false) $$;

create function app_must_reach(orgs uuid[]) returns void language plpgsql stable parallel safe as $$
begin
  if app_is_tenant() and not array_remove(orgs, null) <@ app_org_ids() then
    raise exception 'this work does not reach the organization' using errcode = 'insufficient_privilege';
  end if;
end $$;

-- Writes everything that a unit of work leaves behind besides its rows, in one round trip with the commit. The tables of the
-- queue are out of reach for tenants, so the function runs as its owner. The flags of a job let workers leave out tenants at
-- their limit and paused tasks. What names no organization belongs to the partner, or is a job that checks its own input.
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
    insert into events (id, name, org_id, site_id, device_id, actor, data)
    select (e ->> 'id')::uuid, e ->> 'name', (e ->> 'orgId')::uuid, (e ->> 'siteId')::uuid, (e ->> 'deviceId')::uuid,
           e -> 'actor', e -> 'data'
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

comment on function take_idempotency_key(text, text, text, text) is
  'any tenant: a row is found by the caller, the route and the key together, and its answer is sealed for them';
comment on function keep_idempotent_answers(jsonb) is
  'any tenant: a row is found by the caller, the route and the key together, and its answer is sealed for them';
comment on function sync_cluster() is
  'any tenant: it names the cluster and the database, and reads no row of a tenant';
comment on function sync_state(timestamptz, uuid, uuid[], boolean) is
  'any tenant: positions are of the whole cluster; of organizations it tells a digest of the removed ones, and no id';
