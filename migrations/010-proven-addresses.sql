-- When a person first showed that the address of the account is theirs, by a link that was mailed there. Until then
-- whoever made the account may have been a stranger, so an invitation or a reset link drops what was set before.

alter table users add column email_proven_at timestamptz;
-- The operator made these.
update users set email_proven_at = created_at where id in (select user_id from system_users);

-- A place that is given counts at once, as one that is taken does (see 007).
create trigger principals_changed_place after insert on partner_users
  for each statement execute function principals_changed();
create trigger principals_changed_place after insert on organization_users
  for each statement execute function principals_changed();
