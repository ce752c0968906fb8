-- Which modules are on: for the installation, and for partners and organizations (domain/modules, section 2).

create table instance_modules (
  key text primary key,
  enabled boolean not null,
  -- partners may not change it
  locked boolean not null default false,
  reason varchar(500),
  updated_by uuid,
  updated_at timestamptz not null default now()
);
call protect_platform('instance_modules');

-- What a partner says for itself (no organization) or for one of its organizations. No row: what the level above says.
create table tenant_modules (
  id uuid primary key default gen_random_uuid(),
  partner_id uuid not null references partners (id),
  org_id uuid references organizations (id),
  key text not null,
  enabled boolean not null,
  source text not null default 'manual' check (source in ('manual', 'plan', 'trial')),
  -- of a trial: from then on it is off
  expires_at timestamptz,
  -- days before the end of which the partner has been told
  noticed_days integer,
  reason varchar(500),
  updated_by uuid,
  updated_at timestamptz not null default now(),
  unique nulls not distinct (partner_id, org_id, key),
  check (expires_at is null or source = 'trial')
);
create index tenant_modules_org on tenant_modules (org_id);
create index tenant_modules_trials on tenant_modules (expires_at) where expires_at is not null and enabled;
call protect_tenant('tenant_modules', 'org_id', 'partner_id');

-- Every process keeps the switches in memory and is told of every change, from whatever path it is made.
create function modules_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('quartermaster', format('["modules","%s"]', tg_argv[0]));
  return null;
end $$;
create trigger modules_changed after insert or update or delete on instance_modules
  for each statement execute function modules_changed('*');
create trigger modules_changed after insert or update or delete on tenant_modules
  for each statement execute function modules_changed('*');
create trigger modules_plan_changed after update of plan on partners
  for each statement execute function modules_changed('*');
create trigger modules_tenant_added after insert on partners
  for each statement execute function modules_changed('tenants');
create trigger modules_tenant_added after insert on organizations
  for each statement execute function modules_changed('tenants');

-- A job of a module that is off for its organization.
alter table job_runs drop constraint job_runs_outcome_check;
alter table job_runs add constraint job_runs_outcome_check check (outcome in ('success', 'error', 'failed', 'skipped'));

-- What waits in the queue for a module, per organization or in all. The queue's own tables are out of reach.
create function pending_module_jobs(module text, orgs uuid[]) returns bigint
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return (select count(*) from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
    where starts_with(t.identifier, module || '/')
      and (orgs is null or (j.payload ->> 'orgId')::uuid = any(orgs)));
end $$;
revoke all on function pending_module_jobs(text, uuid[]) from public;
grant execute on function pending_module_jobs(text, uuid[]) to quartermaster_platform;
