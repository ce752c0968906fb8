-- What led to a command, so that the event of its end carries it on; null in commands from before.
alter table device_commands add column causation jsonb;
