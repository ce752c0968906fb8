-- Exports keep the limits to sites and groups of the person who requested them; null means none.
alter table audit_exports add column site_ids uuid[], add column group_ids uuid[];
