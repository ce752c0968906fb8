-- Partner and system callers read many organizations at once, newest first; one organization has the core's own index.
create index audit_logs_newest on audit_logs (timestamp desc, id desc);
