-- Commands: work for a device, from the order to the result (domain/devices, sections 1.4 and 2.2)

create table device_commands (
  id uuid primary key default gen_random_uuid(),
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  type varchar(50) not null,
  payload jsonb not null default '{}' check (octet_length(payload::text) <= 300000),
  priority integer not null default 0,
  attempt integer not null default 0,
  target_role text not null default 'agent' check (target_role in ('agent', 'watchdog')),
  status text not null default 'pending'
    check (status in ('pending', 'sent', 'running', 'completed', 'failed', 'timeout', 'cancelled', 'expired')),
  when_offline text not null default 'queue' check (when_offline in ('queue', 'fail')),
  deliver_by timestamptz not null,
  execution_timeout_seconds integer not null check (execution_timeout_seconds between 1 and 90000),
  -- the organization that ordered it: a device moved elsewhere never receives it
  submitted_org_id uuid not null,
  dedup_key varchar(100),
  source text not null check (source in ('user', 'api_key', 'script', 'automation', 'patch_job', 'deployment', 'policy',
    'security', 'system')),
  source_id uuid,
  batch_id uuid,
  created_by uuid,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  -- Windows ends programs with unsigned 32-bit codes
  exit_code bigint,
  error text,
  duration_ms bigint,
  data jsonb,
  -- a timeout that the server assumed; a result of the agent still replaces it for a day
  provisional boolean not null default false,
  late boolean not null default false
);
create unique index device_commands_dedup on device_commands (device_id, dedup_key)
  where status in ('pending', 'sent', 'running');
create index device_commands_pending on device_commands (device_id, priority desc, created_at, id) where status = 'pending';
create index device_commands_deliver on device_commands (deliver_by) where status = 'pending';
create index device_commands_out on device_commands (sent_at) where status in ('sent', 'running');
create index device_commands_device on device_commands (device_id, created_at desc, id desc);
create index device_commands_source on device_commands (source, source_id) where source_id is not null;
create index device_commands_age on device_commands (created_at);
call protect_tenant('device_commands');

create table device_command_output (
  command_id uuid primary key references device_commands (id) on delete cascade,
  org_id uuid not null,
  stdout text,
  stderr text,
  truncated boolean not null default false
);
call protect_tenant('device_command_output');
