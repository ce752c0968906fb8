-- Over which connection a command was given out, and how far it has come (domain/agents, sections 4 and 7).

alter table device_commands
  -- null when the agent fetched it; the connections of a device and role count upwards
  add column epoch bigint,
  add column progress_percent real check (progress_percent between 0 and 100),
  add column progress_message varchar(500);
-- what a new connection looks for: given out over an earlier one and never begun
create index device_commands_unheard on device_commands (device_id, target_role) where status = 'sent' and started_at is null;
