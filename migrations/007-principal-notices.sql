-- Processes remember for a second who a caller is and what the caller reaches. A change of any of it is told to all of
-- them at once, from whatever path it is made.

create function principals_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('quartermaster', '["principals","*"]');
  return null;
end $$;

create trigger principals_changed after insert or delete or update of status, deleted_at on organizations
  for each statement execute function principals_changed();
create trigger principals_changed after update of status, deleted_at on partners
  for each statement execute function principals_changed();
create trigger principals_changed after update of status, mfa_enabled on users
  for each statement execute function principals_changed();
create trigger principals_changed after delete or update of revoked_at, mfa on sessions
  for each statement execute function principals_changed();
create trigger principals_changed after delete or update of role_id, org_access, org_ids on partner_users
  for each statement execute function principals_changed();
create trigger principals_changed after delete or update of role_id, site_ids, device_group_ids on organization_users
  for each statement execute function principals_changed();
create trigger principals_changed after delete or update of role_id on system_users
  for each statement execute function principals_changed();
create trigger principals_changed after update of parent_role_id, force_mfa on roles
  for each statement execute function principals_changed();
create trigger principals_changed after insert or delete on role_permissions
  for each statement execute function principals_changed();
create trigger principals_changed after update of status, scopes, key_hash, rate_limit, expires_at on api_keys
  for each statement execute function principals_changed();
