-- Diagnostic logs of agents, and event logs of the operating systems of devices

-- Diagnostic log of the agent. Whole days are dropped.
create table agent_logs (
  id uuid not null default gen_random_uuid(),
  device_id uuid not null,
  org_id uuid not null,
  timestamp timestamptz not null,
  level text not null check (level in ('debug', 'info', 'warn', 'error')),
  component varchar(100) not null,
  message text not null,
  fields jsonb,
  agent_version varchar(50),
  created_at timestamptz not null default now(),
  -- the time as the device reported it, where its clock was so wrong that the time of arrival replaced it
  reported_at timestamptz,
  primary key (id, created_at)
) partition by range (created_at);
create index agent_logs_device on agent_logs (device_id, timestamp desc, id desc);
call protect_tenant('agent_logs');
select ensure_daily_partitions('agent_logs', 7);

-- Events with an id of the operating system: one row for each, which counts the repeats. An event can recur on any day, so the
-- table has no daily partitions.
create table device_event_logs (
  id uuid primary key default gen_random_uuid(),
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  timestamp timestamptz not null,
  reported_at timestamptz,
  level text not null check (level in ('info', 'warning', 'error', 'critical')),
  category text not null check (category in ('security', 'hardware', 'application', 'system')),
  source varchar(255) not null,
  event_id varchar(100) not null,
  message text not null,
  details jsonb,
  created_at timestamptz not null default now(),
  occurrence_count integer not null default 1,
  last_occurred_at timestamptz not null,
  -- last_occurred_at as the device reported it: distinguishes a repeated event from a repeated request
  last_reported_at timestamptz not null,
  unique (device_id, source, event_id)
) with (fillfactor = 80);
create index device_event_logs_recent on device_event_logs (device_id, last_occurred_at desc, id desc);
call protect_tenant('device_event_logs');

-- Events without an id cannot be counted: each is a row of the day on which it arrived, and is dropped with that day.
create table device_event_entries (
  id uuid not null default gen_random_uuid(),
  device_id uuid not null,
  org_id uuid not null,
  timestamp timestamptz not null,
  reported_at timestamptz,
  level text not null check (level in ('info', 'warning', 'error', 'critical')),
  category text not null check (category in ('security', 'hardware', 'application', 'system')),
  source varchar(255) not null,
  message text not null,
  details jsonb,
  created_at timestamptz not null default now(),
  -- digest of the event as reported, so that a repeated request is not stored twice
  digest bigint not null
) partition by range (created_at);
create index device_event_entries_recent on device_event_entries (device_id, timestamp desc, id desc);
create index device_event_entries_digest on device_event_entries (device_id, digest);
call protect_tenant('device_event_entries');
select ensure_daily_partitions('device_event_entries', 7);

-- The number of entries that a device sent in the current hour. The row is also the lock that serializes submissions of a device.
create table device_event_quotas (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  hour timestamptz not null,
  entries integer not null
) with (fillfactor = 50);
call protect_tenant('device_event_quotas');
