-- Agents: the credentials that authenticate them, and their sockets

-- Credentials. Only hashes are stored.
create table agent_credentials (
  token_hash text primary key,
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null references organizations (id),
  agent_id varchar(64) not null,
  role text not null check (role in ('agent', 'watchdog', 'helper')),
  state text not null default 'current' check (state in ('current', 'previous', 'pending')),
  -- null for the current credential, which is valid until it is replaced
  expires_at timestamptz check ((state = 'current') = (expires_at is null)),
  suspended_at timestamptz,
  suspended_reason varchar(255),
  created_at timestamptz not null default now(),
  unique (device_id, role, state)
);
create index agent_credentials_expiry on agent_credentials (expires_at) where expires_at is not null;
create index agent_credentials_org on agent_credentials (org_id);
call protect_tenant('agent_credentials');

-- Tokens of purged devices: their agents receive 410 instead of 401, so that they stop.
create table agent_tombstones (
  token_hash text primary key,
  agent_id varchar(64) not null,
  gone_at timestamptz not null default now()
);
create index agent_tombstones_age on agent_tombstones (gone_at);
call protect_platform('agent_tombstones');

-- Runs whatever code path deletes the device; a token that was only replaced leaves no tombstone.
create function bury_agent_credential() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select 1 from devices where id = old.device_id) then
    insert into agent_tombstones (token_hash, agent_id) values (old.token_hash, old.agent_id) on conflict do nothing;
  end if;
  return null;
end $$;
revoke all on function bury_agent_credential() from public;
create trigger agent_credentials_bury after delete on agent_credentials
  for each row execute function bury_agent_credential();

-- The processes that hold sockets of agents.
create table agent_nodes (
  id uuid primary key,
  seen_at timestamptz not null default now()
);
call protect_platform('agent_nodes');

-- The row remains when the socket closes, so that epochs only grow. Without a node there is no connection.
create table agent_connections (
  device_id uuid not null references devices (id) on delete cascade,
  role text not null check (role in ('agent', 'watchdog')),
  org_id uuid not null,
  node_id uuid,
  -- the process that held the connection before and must close it
  replaced_node_id uuid,
  epoch bigint not null default 1,
  connected_at timestamptz not null default now(),
  last_disconnect_at timestamptz,
  primary key (device_id, role)
) with (fillfactor = 80);
create index agent_connections_node on agent_connections (node_id) where node_id is not null;
create index agent_connections_org on agent_connections (org_id);
call protect_tenant('agent_connections');

-- Connected agents receive changed settings immediately, whatever code path changes them. The payload is the organization, or *
-- when the settings of a partner changed.
create function agent_settings_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('quartermaster',
    json_build_array('agents.settings', case when tg_table_name = 'organizations' then new.id::text else '*' end)::text);
  return null;
end $$;
create trigger agent_settings_changed after update of settings on organizations for each row
  when ((old.settings -> 'agents') is distinct from (new.settings -> 'agents')) execute function agent_settings_changed();
create trigger agent_settings_changed after update of settings on partners for each row
  when ((old.settings -> 'agents') is distinct from (new.settings -> 'agents')) execute function agent_settings_changed();
