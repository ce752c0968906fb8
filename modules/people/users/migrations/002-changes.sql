-- The users of a tenant can be followed (core's track_changes): members, invitations, and what is shown of accounts and roles.
call track_changes('organization_users', 'users', id => 'user_id');
call track_changes('partner_users', 'users', id => 'user_id', org => 'null', partner => 'partner_id');
call track_changes('invitations', 'users', partner => 'partner_id',
  shown => 'email, name, role_id, site_ids, device_group_ids, org_access, org_ids, expires_at');

create function track_users_in_users() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id) select 'users', new.id, m.org_id from organization_users m where m.user_id = new.id;
  insert into sync_changes (kind, id, partner_id)
  select 'users', new.id, m.partner_id from partner_users m where m.user_id = new.id;
  return null;
end $$;
create trigger track_users after update on users for each row
  when ((old.email, old.name, old.status, old.mfa_enabled, old.avatar_url, old.last_login_at)
    is distinct from (new.email, new.name, new.status, new.mfa_enabled, new.avatar_url, new.last_login_at))
  execute function track_users_in_users();

create function track_users_in_roles() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into sync_changes (kind, id, org_id)
  select 'users', m.user_id, m.org_id from organization_users m where m.role_id = new.id;
  insert into sync_changes (kind, id, partner_id)
  select 'users', m.user_id, m.partner_id from partner_users m where m.role_id = new.id;
  insert into sync_changes (kind, id, org_id, partner_id)
  select 'users', i.id, i.org_id, i.partner_id from invitations i where i.role_id = new.id;
  return null;
end $$;
create trigger track_users after update of name on roles for each row
  when (old.name <> new.name) execute function track_users_in_roles();
revoke all on function track_users_in_users(), track_users_in_roles() from public;
