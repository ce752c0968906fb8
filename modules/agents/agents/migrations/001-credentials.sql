-- What proves that a caller is the agent of a device (domain/agents, sections 1 and 3). Only hashes are kept.

create table agent_credentials (
  token_hash text primary key,
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null references organizations (id),
  agent_id varchar(64) not null,
  role text not null check (role in ('agent', 'watchdog', 'helper')),
  state text not null default 'current' check (state in ('current', 'previous', 'pending')),
  -- null for the current one, which lives until it is replaced
  expires_at timestamptz check ((state = 'current') = (expires_at is null)),
  suspended_at timestamptz,
  suspended_reason varchar(255),
  created_at timestamptz not null default now(),
  unique (device_id, role, state)
);
create index agent_credentials_expiry on agent_credentials (expires_at) where expires_at is not null;
create index agent_credentials_org on agent_credentials (org_id);
call protect_tenant('agent_credentials');

-- Tokens of purged devices: their agents are told that the device is gone, so that they stop (410 instead of 401).
create table agent_tombstones (
  token_hash text primary key,
  agent_id varchar(64) not null,
  gone_at timestamptz not null default now()
);
create index agent_tombstones_age on agent_tombstones (gone_at);
call protect_platform('agent_tombstones');

-- Runs whoever removes the device; a token that was merely replaced leaves nothing behind.
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
