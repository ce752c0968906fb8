-- What the platform's role may ask of the queue and do to it, through graphile-worker's own view and functions.

-- As before, with the flags by which a worker leaves out tenants at their limit and tasks that are paused.
create or replace function flush_effects(effects jsonb) returns void
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

-- One look at the whole queue. `held` has what runs, so that the reader tells what is stuck; `put_off` has jobs that were
-- put off and whose worker died before it gave the attempt back.
create function queue_counts()
returns table (task text, ready integer, blocked integer, delayed integer, locked integer, retrying integer,
  failed integer, cancelled integer, oldest_ready_at timestamptz, oldest_locked_at timestamptz, held jsonb,
  put_off bigint[])
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query
  with busy as materialized (
    select distinct b.queue_name from graphile_worker.jobs b where b.locked_at is not null and b.queue_name is not null)
  select j.task_identifier,
    (count(*) filter (where f.open and j.run_at <= now() and b.queue_name is null))::int,
    (count(*) filter (where f.open and j.run_at <= now() and b.queue_name is not null))::int,
    (count(*) filter (where f.open and j.run_at > now() and j.attempts = 0))::int,
    (count(*) filter (where j.locked_at is not null))::int,
    (count(*) filter (where f.open and j.run_at > now() and j.attempts > 0))::int,
    (count(*) filter (where f.over and not f.ended))::int,
    (count(*) filter (where f.over and f.ended))::int,
    min(j.run_at) filter (where f.open and j.run_at <= now()),
    min(j.locked_at),
    coalesce(jsonb_agg(jsonb_build_object('lockedAt', j.locked_at, 'lockedBy', j.locked_by))
      filter (where j.locked_at is not null), '[]'),
    array_agg(j.id) filter (where f.over and j.last_error like 'Put off: %')
  from graphile_worker.jobs j
  left join busy b on b.queue_name = j.queue_name
  cross join lateral (select
    j.locked_at is null and j.attempts < j.max_attempts as open,
    j.locked_at is null and j.attempts >= j.max_attempts as over,
    coalesce(j.last_error like 'Cancelled: %', false) as ended) f
  group by 1;
end $$;

-- Tenants with more than `threshold` ready jobs.
create function queue_backlogs(threshold integer) returns table (org_id uuid, waiting integer)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query
  select substr(f.flag, 5)::uuid, count(*)::int
  from graphile_worker.jobs j cross join lateral jsonb_object_keys(j.flags) f(flag)
  where j.flags is not null and j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
    and f.flag like 'org:%'
  group by 1 having count(*) > threshold;
end $$;

-- Rows by id that fit a filter: ids, id, task, queue, key, orgId, errorContains, state, held (runs); each may be left out.
-- `slow` has, by task, the ms after which one that runs counts as stuck.
create function queue_jobs(filter jsonb, slow jsonb, after bigint, skip integer, most integer)
returns table (id bigint, task text, queue text, key text, priority integer, run_at timestamptz, attempts integer,
  max_attempts integer, last_error text, created_at timestamptz, updated_at timestamptz, locked_at timestamptz,
  locked_by text, org_id uuid, node_id text, state text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  wanted bigint[] := (select array_agg(i::bigint) from jsonb_array_elements_text(filter -> 'ids') i);
  org_flag text := 'org:' || (filter ->> 'orgId');
begin
  return query
  with busy as materialized (
    select distinct b.queue_name, b.locked_by from graphile_worker.jobs b
    where b.locked_at is not null and b.queue_name is not null)
  select j.id, j.task_identifier, j.queue_name, j.key, j.priority::int, j.run_at, j.attempts::int, j.max_attempts::int,
    j.last_error, j.created_at, j.updated_at, j.locked_at, j.locked_by,
    (select substr(k, 5)::uuid from jsonb_object_keys(j.flags) k where k like 'org:%' limit 1), n.id, s.state
  from graphile_worker.jobs j
  left join worker_nodes n on j.locked_at is not null and j.locked_by = any(n.worker_ids)
  cross join lateral (select case
    when j.locked_at is not null then case
      when n.id is null or n.state not in ('running', 'draining')
        or n.heartbeat_at < now() - interval '20 seconds' then 'stuck'
      when now() - j.locked_at > make_interval(secs => coalesce((slow ->> j.task_identifier)::float8, 600000) / 1000)
        then 'stuck'
      else 'running' end
    when j.attempts >= j.max_attempts then
      case when j.last_error like 'Cancelled: %' then 'cancelled' else 'failed' end
    when j.run_at > now() then case when j.attempts > 0 then 'retrying' else 'delayed' end
    when exists (select from busy b where b.queue_name = j.queue_name) then 'blocked'
    else 'ready' end as state) s
  where j.id > after
    and (wanted is null or j.id = any(wanted))
    and (filter ->> 'id' is null or j.id = (filter ->> 'id')::bigint)
    and (filter ->> 'held' is null or j.locked_at is not null)
    and (filter ->> 'task' is null or j.task_identifier = filter ->> 'task')
    and (filter ->> 'queue' is null or j.queue_name = filter ->> 'queue')
    and (filter ->> 'key' is null or j.key = filter ->> 'key')
    and (org_flag is null or j.flags ? org_flag)
    and (filter ->> 'errorContains' is null or strpos(lower(j.last_error), lower(filter ->> 'errorContains')) > 0)
    and (filter ->> 'state' is null or s.state = filter ->> 'state')
  order by j.id limit most offset skip;
end $$;

-- How many the workers take before this one, counted up to 10,000.
create function queue_ahead(job bigint) returns integer
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return (select count(*) from (
    select from graphile_worker.jobs a, graphile_worker.jobs j
    where j.id = job and a.id <> j.id and a.locked_at is null and a.attempts < a.max_attempts and a.run_at <= now()
      and (a.priority, a.run_at, a.id) < (j.priority, j.run_at, j.id) limit 10000) ahead);
end $$;

-- Runs again what is not running: from the first attempt, or with one attempt more. Returns the ids that changed.
create function queue_retry(jobs bigint[], at timestamptz, fresh boolean) returns setof bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
begin
  if fresh then
    return query select r.id from graphile_worker.reschedule_jobs(jobs, run_at := at, attempts := 0) r;
    return;
  end if;
  for one in select j.max_attempts, j.attempts, array_agg(j.id) as ids from graphile_worker.jobs j
    where j.id = any(jobs) group by 1, 2 loop
    return query select r.id from graphile_worker.reschedule_jobs(one.ids, run_at := at,
      max_attempts := least(32767, greatest(one.max_attempts, one.attempts + 1))) r;
  end loop;
end $$;

create function queue_cancel(jobs bigint[], why text) returns setof bigint
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query select r.id from graphile_worker.permanently_fail_jobs(jobs, 'Cancelled: ' || why) r;
end $$;

create function queue_delete(jobs bigint[]) returns setof bigint
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query select r.id from graphile_worker.complete_jobs(jobs) r;
end $$;

-- Puts a task's ready jobs aside, some at a time, without touching their attempts. Returns how many.
create function queue_put_off(of_task text, until timestamptz, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return (select count(*) from graphile_worker.reschedule_jobs(array(
    select j.id from graphile_worker.jobs j
    where j.task_identifier = of_task and j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
    limit most), run_at := until));
end $$;

-- Begins a schedule now, the way its clock would. Returns the id of the job that lays out its runs.
create function queue_start(schedule text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return (select id from graphile_worker.add_job('core/start', json_build_object('job', schedule), max_attempts := 3));
end $$;

-- Takes jobs from whoever holds them, and says so in the history. The attempt is given back, at most three times a job:
-- one that kills its worker each time must come to an end.
create function interrupt_jobs(holders text[], node text, why text) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  held bigint[];
  spent integer[];
begin
  select array_agg(j.id), array_agg(j.attempts::int) into held, spent
  from graphile_worker.jobs j where j.locked_by = any(holders);
  insert into job_runs (job_id, task, queue, key, attempt, started_at, finished_at, duration_ms, outcome, error_message,
    error_fingerprint, node_id, org_id)
  select j.id, j.task_identifier, j.queue_name, j.key, j.attempts, j.locked_at, now(),
    least(2147483647, extract(epoch from now() - j.locked_at) * 1000)::int, 'interrupted', why, md5(j.task_identifier || why),
    node,
    (select substr(k, 5)::uuid from jsonb_object_keys(j.flags) k where k like 'org:%' limit 1)
  from graphile_worker.jobs j where j.id = any(held);
  perform graphile_worker.force_unlock_workers(holders);
  for n in 1 .. coalesce(array_length(held, 1), 0) loop
    if spent[n] > 0 and
      (select count(*) from job_runs r where r.job_id = held[n] and r.outcome = 'interrupted') <= 3 then
      perform graphile_worker.reschedule_jobs(array[held[n]], attempts := spent[n] - 1);
    end if;
  end loop;
  return coalesce(array_length(held, 1), 0);
end $$;

revoke all on function queue_counts(), queue_backlogs(integer), queue_jobs(jsonb, jsonb, bigint, integer, integer),
  queue_ahead(bigint), queue_retry(bigint[], timestamptz, boolean), queue_cancel(bigint[], text), queue_delete(bigint[]),
  queue_put_off(text, timestamptz, integer), queue_start(text), interrupt_jobs(text[], text, text) from public;
grant execute on function queue_counts(), queue_backlogs(integer), queue_jobs(jsonb, jsonb, bigint, integer, integer),
  queue_ahead(bigint), queue_retry(bigint[], timestamptz, boolean), queue_cancel(bigint[], text), queue_delete(bigint[]),
  queue_put_off(text, timestamptz, integer), queue_start(text), interrupt_jobs(text[], text, text)
  to quartermaster_platform;
