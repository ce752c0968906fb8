-- How long a command may go without a result, where that is not a minute more than it may run (domain/agents, section 4).

alter table device_commands add column run_limit_seconds integer check (run_limit_seconds between 1 and 90000);
