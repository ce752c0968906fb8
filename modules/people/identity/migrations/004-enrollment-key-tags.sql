-- Tags that devices have from their enrollment.

alter table enrollment_keys add column tags text[] not null default '{}' check (cardinality(tags) <= 20);
