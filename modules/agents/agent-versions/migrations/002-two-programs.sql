-- The programs are agent and watchdog. See docs/decisions/0026-no-helper-program.md.

delete from agent_versions where component in ('helper', 'viewer');
alter table agent_versions drop constraint agent_versions_component_check;
alter table agent_versions add check (component in ('agent', 'watchdog'));

delete from agent_update_attempts where component = 'helper';
alter table agent_update_attempts drop constraint agent_update_attempts_component_check;
alter table agent_update_attempts add check (component in ('agent', 'watchdog'));

delete from agent_rollout_halts where component = 'helper';
