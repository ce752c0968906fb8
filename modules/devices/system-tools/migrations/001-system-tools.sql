-- Calls of live tools while a caller may wait for them, and file transfers in progress

-- The command itself is a row of device_commands; its response is kept here for an hour.
create table tool_calls (
  command_id uuid primary key,
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  tool varchar(50) not null,
  created_at timestamptz not null default now(),
  -- until then the call counts as in progress
  open_until timestamptz not null,
  ended_at timestamptz,
  status text check (status in ('completed', 'failed', 'timeout', 'cancelled')),
  error text,
  -- JSON as text, stored and returned unparsed; null with ended_at when there was no response or it was too large
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
  -- bytes, if known
  file_size bigint check (file_size >= 0),
  file_sha256 text,
  -- bytes received and bytes delivered
  written bigint not null default 0,
  taken bigint not null default 0,
  created_at timestamptz not null default now(),
  -- when data was last received or delivered
  moved_at timestamptz not null default now(),
  -- when the agent began the transfer
  begun_at timestamptz,
  -- when all data had been received
  filled_at timestamptz,
  broken_at timestamptz
);
create index file_transfers_device on file_transfers (device_id);
create index file_transfers_moved on file_transfers (moved_at);
call protect_tenant('file_transfers');

-- Data received and not yet delivered. Unlogged: a file needs no write-ahead log, and a transfer does not continue after a crash
-- of the database.
create unlogged table file_transfer_chunks (
  command_id uuid not null references file_transfers (command_id) on delete cascade,
  seq integer not null,
  org_id uuid not null,
  data bytea not null check (octet_length(data) <= 262144),
  primary key (command_id, seq)
);
-- Compressing data that is often compressed already would cost more than it saves.
alter table file_transfer_chunks alter column data set storage external;
call protect_tenant('file_transfer_chunks');
