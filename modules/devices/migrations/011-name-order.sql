-- The order of names under row-level security.
--
-- A position in an order is compared before the policy, and so in the index, only where nothing but leakproof functions stand
-- in the comparison, and lower() is none: a column holds what it gives. Without, each page of a walk through the list reads
-- all those before it.

alter table devices add column name_key text collate "C" generated always as (lower(hostname)) stored;
drop index devices_hostname;
create index devices_name_key on devices (name_key, id);
create index devices_org_name_key on devices (org_id, name_key, id);
