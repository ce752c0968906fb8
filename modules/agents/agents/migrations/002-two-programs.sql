-- There is no program `helper` any more: its tokens go. See docs/decisions/0026-no-helper-program.md.

delete from agent_credentials where role = 'helper';
alter table agent_credentials drop constraint agent_credentials_role_check;
alter table agent_credentials add check (role in ('agent', 'watchdog'));
