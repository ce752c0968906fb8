-- The sockets of agents: which process holds which, and how often each agent has connected (domain/agents, section 4).

create table agent_nodes (
  id uuid primary key,
  seen_at timestamptz not null default now()
);
call protect_platform('agent_nodes');

-- The row stays when the socket closes, so that epochs only grow; without a node there is no connection.
create table agent_connections (
  device_id uuid not null references devices (id) on delete cascade,
  role text not null check (role in ('agent', 'watchdog')),
  org_id uuid not null,
  node_id uuid,
  -- who held the connection before this one, told to let go
  replaced_node_id uuid,
  epoch bigint not null default 1,
  connected_at timestamptz not null default now(),
  last_disconnect_at timestamptz,
  primary key (device_id, role)
) with (fillfactor = 80);
create index agent_connections_node on agent_connections (node_id) where node_id is not null;
create index agent_connections_org on agent_connections (org_id);
call protect_tenant('agent_connections');

-- Settings of agents reach those that are connected at once, whatever path they are changed on. The payload is the
-- organization, or * when a partner's changed.
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
