-- What led to a command, so that the event of its end carries it on; null in commands from before.
alter table device_commands add column causation jsonb;

-- Sealed fields take a third more.
alter table device_commands drop constraint device_commands_payload_check,
  add constraint device_commands_payload_check check (octet_length(payload::text) <= 400000);
