-- Commands: work for a device, from the request to the result

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
  -- the organization that sent the command: a device that was moved to another organization never receives it
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
  -- a timeout assumed by the server; for a day a result of the agent still replaces it
  provisional boolean not null default false,
  late boolean not null default false,
  -- The connection over which the command was delivered; null when the agent fetched it. The connections of a device and role are
  -- numbered upwards.
  epoch bigint,
  progress_percent real check (progress_percent between 0 and 100),
  progress_message varchar(500),
  -- how long the command may run without a result, if that is not the execution timeout and a minute
  run_limit_seconds integer check (run_limit_seconds between 1 and 90000),
  -- cancellation was requested; the command continues until the agent reports that it has stopped
  cancel_requested_at timestamptz,
  cancel_requested_by uuid
);
create unique index device_commands_dedup on device_commands (device_id, dedup_key)
  where status in ('pending', 'sent', 'running');
create index device_commands_pending on device_commands (device_id, priority desc, created_at, id) where status = 'pending';
create index device_commands_deliver on device_commands (deliver_by) where status = 'pending';
create index device_commands_out on device_commands (sent_at) where status in ('sent', 'running');
-- Commands that a new connection delivers again: sent over an earlier one and never started.
create index device_commands_unheard on device_commands (device_id, target_role) where status = 'sent' and started_at is null;
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

-- True when the author of a command is no longer authorized: a user who was disabled or removed, an API key that was revoked.
create function orderer_has_left(creator uuid, source text, source_id uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select creator is not null and not exists (select from users where id = creator and status = 'active')
    or source = 'api_key' and exists (select from api_keys where id = source_id and status = 'revoked')
$$;
revoke all on function orderer_has_left(uuid, text, uuid) from public;
grant execute on function orderer_has_left(uuid, text, uuid) to quartermaster_app, quartermaster_platform;
