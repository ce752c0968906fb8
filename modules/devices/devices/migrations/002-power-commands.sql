-- Whether the agent carries out power commands; null until it says so.
alter table device_state add column power_commands boolean;
