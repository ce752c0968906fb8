-- What agents say about themselves (spec/3-operations, Agent diagnostic log); a day is dropped whole.

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
  primary key (id, created_at)
) partition by range (created_at);
create index agent_logs_device on agent_logs (device_id, timestamp desc, id desc);
call protect_tenant('agent_logs');
select ensure_daily_partitions('agent_logs', 7);
