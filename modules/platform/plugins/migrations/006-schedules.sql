-- Schedules and collectors lie with all others. What was due goes on with its next occurrence.
insert into schedules (kind, owner_id, name, zone, org_id, partner_id, recurrence, catch_up, slot, run_at)
select 'plugins.' || kind, installation_id, name, 'UTC', org_id, partner_id, jsonb_build_object('cron', cron), 'once', next_run_at, next_run_at
from plugin_schedules where next_run_at < 'infinity';
drop table plugin_schedules;
