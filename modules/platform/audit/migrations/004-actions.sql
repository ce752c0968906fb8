-- Rare actions in a long trail: what the filter by action and the reports look for, newest first.
create index audit_logs_action on audit_logs (org_id, action, timestamp desc, id desc);
