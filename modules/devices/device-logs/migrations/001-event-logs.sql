-- What the operating systems of devices report (spec/3-operations, Device event log), and times that were set right.

-- The time as the device gave it, where its clock was so wrong that the time of arrival took its place.
alter table agent_logs add column reported_at timestamptz;

-- Events with an id of the operating system: one row for each, which counts its repeats. It may recur on any day, so it
-- cannot lie in one.
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
  -- last_occurred_at as the device gave it: tells an event that comes again from a body that is sent again
  last_reported_at timestamptz not null,
  unique (device_id, source, event_id)
) with (fillfactor = 80);
create index device_event_logs_recent on device_event_logs (device_id, last_occurred_at desc, id desc);
call protect_tenant('device_event_logs');

-- Events without an id have nothing to be counted by: each is a row of the day on which it came, dropped with that day.
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
  -- of what the device said, so that a body which is sent again is not stored again
  digest bigint not null
) partition by range (created_at);
create index device_event_entries_recent on device_event_entries (device_id, timestamp desc, id desc);
create index device_event_entries_digest on device_event_entries (device_id, digest);
call protect_tenant('device_event_entries');
select ensure_daily_partitions('device_event_entries', 7);

-- How much a device has sent in the running hour. Its row is also the turn that submissions of one device wait for.
create table device_event_quotas (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  hour timestamptz not null,
  entries integer not null
) with (fillfactor = 50);
call protect_tenant('device_event_quotas');
