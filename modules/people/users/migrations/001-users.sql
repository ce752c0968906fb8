-- Invitations: rows of their own, so that a user has no account or membership before accepting

create table invitations (
  -- Becomes the id of the account if accepting creates one.
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  -- Lower case, as logins compare it.
  email varchar(255) not null check (email = lower(email)),
  name varchar(255) not null,
  role_id uuid not null references roles (id),
  site_ids uuid[] check (cardinality(site_ids) > 0),
  device_group_ids uuid[] check (cardinality(device_group_ids) > 0),
  org_access text check (org_access in ('all', 'selected', 'none')),
  org_ids uuid[] not null default '{}',
  -- SHA-256 of the link's token; null until the mail is sent.
  token_hash text unique,
  expires_at timestamptz not null,
  -- A user; null when an API key invited.
  invited_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(org_id, partner_id) = 1),
  check ((partner_id is null) = (org_access is null)),
  check (partner_id is null or num_nonnulls(site_ids, device_group_ids) = 0),
  check ((org_access is not distinct from 'selected') = (org_ids <> '{}'))
);
create unique index invitations_org on invitations (org_id, email) where org_id is not null;
create unique index invitations_partner on invitations (partner_id, email) where partner_id is not null;
create index invitations_role on invitations (role_id);
create index invitations_expiry on invitations (expires_at);
call protect_tenant('invitations', 'org_id', 'partner_id');

-- Unlike shared objects, the invitations of a partner are not readable by its organizations.
drop policy tenant_read on invitations;
create policy tenant_read on invitations for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[]) or (org_id is null and partner_id = (select app_partner_id())));

-- The users of a tenant can be followed (track_changes of core): members, invitations, and what is shown of accounts and roles.
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
