-- Calls of live tools while somebody may wait for them, and the files on their way (domain/system-tools).

-- The command itself is a row of devices; here lies what it answered, for an hour.
create table tool_calls (
  command_id uuid primary key,
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  tool varchar(50) not null,
  created_at timestamptz not null default now(),
  -- until then it counts as being in work
  open_until timestamptz not null,
  ended_at timestamptz,
  status text check (status in ('completed', 'failed', 'timeout', 'cancelled')),
  error text,
  -- JSON as text: it is kept and handed on whole; null with ended_at where there was none, or too much
  result text
);
create index tool_calls_device on tool_calls (device_id);
create index tool_calls_age on tool_calls (created_at);
call protect_tenant('tool_calls');

create table file_transfers (
  command_id uuid primary key references tool_calls (command_id) on delete cascade,
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  direction text not null check (direction in ('download', 'upload')),
  -- bytes, where they are known
  file_size bigint check (file_size >= 0),
  file_sha256 text,
  -- bytes that have come in and gone out
  written bigint not null default 0,
  taken bigint not null default 0,
  created_at timestamptz not null default now(),
  -- the last time that anything moved
  moved_at timestamptz not null default now(),
  -- the agent has come for it
  begun_at timestamptz,
  -- all of it has come in
  filled_at timestamptz,
  broken_at timestamptz
);
create index file_transfers_device on file_transfers (device_id);
create index file_transfers_moved on file_transfers (moved_at);
call protect_tenant('file_transfers');

-- What has come in and not gone out. Unlogged: a file costs no write-ahead log, and after a crash of the database nobody
-- goes on with half of one.
create unlogged table file_transfer_chunks (
  command_id uuid not null references file_transfers (command_id) on delete cascade,
  seq integer not null,
  org_id uuid not null,
  data bytea not null check (octet_length(data) <= 262144),
  primary key (command_id, seq)
);
-- Trying to compress what is often compressed already would cost more than it saves.
alter table file_transfer_chunks alter column data set storage external;
call protect_tenant('file_transfer_chunks');
