-- What operators see of the queue: exact counts by minute, snapshots, schedules, paused tasks (domain/job-queue-ops, section 2)

alter table worker_nodes
  add column active_jobs integer not null default 0,
  add column tasks text[] not null default '{}',
  add column drain_requested_at timestamptz;
comment on column worker_nodes.worker_ids is 'Under which names this node locks jobs: the ids of its pools';

-- An attempt whose worker died or was stopped is interrupted; one whose tenant has the module off is skipped.
alter table job_runs drop constraint job_runs_outcome_check;
alter table job_runs add constraint job_runs_outcome_check
  check (outcome in ('success', 'error', 'failed', 'interrupted', 'skipped'));
-- What the job was about, never its payload.
alter table job_runs add column wait_ms integer, add column subject_type varchar(50), add column subject_id varchar(100);
create index job_runs_bad on job_runs (task, finished_at desc) where outcome <> 'success';
create index job_runs_age on job_runs (finished_at desc, job_id, attempt);

-- Failures outlive the days of job_runs.
create table job_failures (
  job_id bigint not null,
  task text not null,
  queue text,
  key text,
  attempt integer not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  error_message varchar(2000),
  error_fingerprint varchar(64),
  node_id text not null,
  org_id uuid,
  wait_ms integer,
  subject_type varchar(50),
  subject_id varchar(100)
);
create index job_failures_age on job_failures (finished_at);
create index job_failures_job on job_failures (job_id);
call protect_platform('job_failures');

-- Exact counts, also where rows of job_runs are only a sample. Each node writes its own rows, so none waits for another.
create table job_stats_minute (
  minute timestamptz not null,
  task text not null,
  node_id text not null,
  started integer not null,
  succeeded integer not null,
  errored integer not null,
  failed integer not null,
  duration_sum bigint not null,
  duration_max integer not null,
  wait_sum bigint not null,
  wait_max integer not null,
  -- counts by upper bound in ms: core/jobs/stats.ts names the bounds
  durations integer[] not null,
  waits integer[] not null,
  primary key (minute, task, node_id)
) partition by range (minute);
call protect_platform('job_stats_minute');
select ensure_daily_partitions('job_stats_minute', 7);

-- One row a task with anything waiting, and one with task '' for the whole queue, each 15 s.
create table queue_snapshots (
  at timestamptz not null,
  task text not null,
  ready integer not null,
  blocked integer not null,
  delayed integer not null,
  locked integer not null,
  retrying integer not null,
  failed integer not null,
  cancelled integer not null,
  stuck integer not null,
  oldest_ready_at timestamptz,
  oldest_locked_at timestamptz,
  primary key (at, task)
);
call protect_platform('queue_snapshots');

-- Tenants of whom more waits than others should wait for; what adds jobs reads it (core/jobs/lanes.ts).
create table queue_lanes (
  org_id uuid primary key,
  waiting integer not null
);
call protect_platform('queue_lanes');

create table cron_status (
  identifier text primary key,
  last_expected timestamptz,
  last_run timestamptz,
  last_outcome text,
  last_duration_ms integer
);
call protect_platform('cron_status');

create table paused_tasks (
  task text primary key,
  paused_at timestamptz not null default now(),
  paused_by uuid,
  reason varchar(500)
);
call protect_platform('paused_tasks');

-- Where the health rules stand: the level that was told, and what they have seen since when. Levels change late.
create table queue_health (
  rule text not null,
  subject text not null,
  level text not null check (level in ('ok', 'warn', 'critical')),
  seen text not null check (seen in ('ok', 'warn', 'critical')),
  seen_since timestamptz not null,
  since timestamptz not null,
  detail text not null,
  primary key (rule, subject)
);
call protect_platform('queue_health');

-- Work that waits in tables of modules' own, as they told it.
create table domain_queues (
  name text primary key,
  title text not null,
  pending integer not null,
  oldest_at timestamptz,
  failed integer not null,
  link text not null,
  counted_at timestamptz not null default now()
);
call protect_platform('domain_queues');
