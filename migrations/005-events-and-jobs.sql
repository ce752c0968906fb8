-- What happened (events), and the operators' view of the queue (domain/job-queue-ops, section 2)

create table events (
  id uuid primary key,
  name text not null,
  org_id uuid,
  site_id uuid,
  device_id uuid,
  occurred_at timestamptz not null default now(),
  actor jsonb not null,
  data jsonb not null
);
create index events_org on events (org_id, occurred_at desc, id);
create index events_age on events (occurred_at);
call protect_tenant('events');

create table worker_nodes (
  id text primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  version text not null,
  concurrency integer not null,
  state text not null default 'running' check (state in ('running', 'draining', 'stopped', 'lost')),
  -- the ids under which this node locks jobs
  worker_ids text[] not null default '{}'
);
call protect_platform('worker_nodes');

create table job_runs (
  job_id bigint not null,
  task text not null,
  queue text,
  key text,
  attempt integer not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null check (outcome in ('success', 'error', 'failed')),
  error_message varchar(2000),
  error_fingerprint varchar(64),
  node_id text not null,
  org_id uuid
) partition by range (finished_at);
create index job_runs_job on job_runs (job_id);
create index job_runs_task on job_runs (task, finished_at desc);
call protect_platform('job_runs');
select ensure_daily_partitions('job_runs', 7);

-- Everything a piece of work leaves behind beside its rows, in one round trip with its commit. The queue's own tables
-- are out of the tenants' reach, so the function runs as its owner.
create function flush_effects(effects jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  notice jsonb;
begin
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
                 null)::graphile_worker.job_spec
      from jsonb_array_elements(effects -> 'jobs') j));
  end if;
  if effects ? 'notices' then
    for notice in select * from jsonb_array_elements(effects -> 'notices') loop
      perform pg_notify(notice ->> 'channel', notice ->> 'payload');
    end loop;
  end if;
end $$;
revoke all on function flush_effects(jsonb) from public;
grant execute on function flush_effects(jsonb) to quartermaster_app, quartermaster_platform;
