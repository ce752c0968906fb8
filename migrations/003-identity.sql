-- People, roles, sessions and API keys, as far as every request needs them (spec/1-identity)

create table users (
  id uuid primary key default gen_random_uuid(),
  email varchar(255) not null,
  name varchar(255) not null,
  password_hash text,
  mfa_enabled boolean not null default false,
  mfa_method text check (mfa_method in ('totp', 'sms')),
  mfa_secret text,
  mfa_recovery_codes jsonb,
  mfa_last_step bigint,
  phone_number text,
  phone_verified boolean not null default false,
  status text not null default 'active' check (status in ('active', 'invited', 'disabled')),
  avatar_url text,
  last_login_at timestamptz,
  password_changed_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index users_email on users (lower(email));

create table permissions (
  id uuid primary key default gen_random_uuid(),
  resource varchar(100) not null,
  action varchar(50) not null,
  description text,
  unique (resource, action)
);
insert into permissions (resource, action, description) values ('*', '*', 'Full administrative access');
insert into permissions (resource, action)
select resource, action
from unnest(array['devices', 'scripts', 'alerts', 'automations', 'reports', 'backup', 'billing', 'users', 'settings',
                  'organizations', 'sites', 'remote']) resource,
     unnest(array['view', 'create', 'update', 'delete', 'execute']) action;
alter table permissions enable row level security;
alter table permissions force row level security;
create policy everybody on permissions for select using (true);
create policy owner on permissions to current_user using (true) with check (true);
grant select on permissions to quartermaster_app, quartermaster_platform;

create table roles (
  id uuid primary key default gen_random_uuid(),
  partner_id uuid references partners (id),
  org_id uuid references organizations (id),
  parent_role_id uuid references roles (id),
  scope text not null check (scope in ('system', 'partner', 'organization')),
  name varchar(100) not null,
  description text,
  is_system boolean not null default false,
  force_mfa boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(partner_id, org_id) <= 1)
);
create index roles_partner on roles (partner_id);
create index roles_org on roles (org_id);
create index roles_parent on roles (parent_role_id);
call protect_tenant('roles', 'org_id', 'partner_id');
create policy built_in on roles for select to quartermaster_app using (org_id is null and partner_id is null);

create table role_permissions (
  role_id uuid not null references roles (id) on delete cascade,
  permission_id uuid not null references permissions (id),
  constraints jsonb,
  primary key (role_id, permission_id)
);
alter table role_permissions enable row level security;
alter table role_permissions force row level security;
create policy tenant on role_permissions to quartermaster_app
  using (role_id in (select id from roles))
  with check (role_id in (select id from roles where not is_system));
create policy platform on role_permissions to quartermaster_platform using (true) with check (true);
create policy owner on role_permissions to current_user using (true) with check (true);
grant select, insert, update, delete on role_permissions to quartermaster_app, quartermaster_platform;

create table system_users (
  user_id uuid primary key references users (id) on delete cascade,
  role_id uuid not null references roles (id)
);
call protect_platform('system_users');

create table partner_users (
  partner_id uuid not null references partners (id),
  user_id uuid not null references users (id) on delete cascade,
  role_id uuid not null references roles (id),
  org_access text not null default 'all' check (org_access in ('all', 'selected', 'none')),
  org_ids uuid[] not null default '{}',
  created_at timestamptz not null default now(),
  primary key (user_id, partner_id)
);
create index partner_users_partner on partner_users (partner_id);
create index partner_users_role on partner_users (role_id);
alter table partner_users enable row level security;
alter table partner_users force row level security;
create policy tenant on partner_users to quartermaster_app
  using (partner_id = (select app_partner_id())) with check (partner_id = (select app_partner_id()));
create policy platform on partner_users to quartermaster_platform using (true) with check (true);
create policy owner on partner_users to current_user using (true) with check (true);
grant select, insert, update, delete on partner_users to quartermaster_app, quartermaster_platform;

create table organization_users (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  user_id uuid not null references users (id) on delete cascade,
  role_id uuid not null references roles (id),
  site_ids uuid[],
  device_group_ids uuid[],
  created_at timestamptz not null default now(),
  unique (user_id, org_id)
);
create index organization_users_org on organization_users (org_id);
create index organization_users_role on organization_users (role_id);
call protect_tenant('organization_users');

alter table users enable row level security;
alter table users force row level security;
create policy tenant on users for select to quartermaster_app
  using (id in (select user_id from organization_users) or id in (select user_id from partner_users));
create policy platform on users to quartermaster_platform using (true) with check (true);
create policy owner on users to current_user using (true) with check (true);
grant select (id, email, name, status, mfa_enabled, mfa_method, avatar_url, last_login_at, created_at, updated_at)
  on users to quartermaster_app;
grant select, insert, update, delete on users to quartermaster_platform;

-- One row a login; `token_hash` is that of the newest refresh token. An older one presented again ends the session.
create table sessions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  token_hash text not null,
  mfa boolean not null default false,
  scope text not null check (scope in ('system', 'partner', 'organization')),
  partner_id uuid references partners (id),
  org_id uuid references organizations (id),
  ip_address varchar(45),
  user_agent text,
  created_at timestamptz not null default now(),
  last_used_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);
create index sessions_user on sessions (user_id);
create index sessions_expiry on sessions (expires_at);
call protect_platform('sessions');

create table api_keys (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  name varchar(255) not null,
  key_hash text not null unique,
  key_prefix varchar(12) not null,
  scopes text[] not null default '{}',
  expires_at timestamptz,
  rate_limit integer not null default 1000 check (rate_limit between 1 and 100000),
  status text not null default 'active' check (status in ('active', 'expired', 'revoked')),
  created_by uuid not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz,
  usage_count bigint not null default 0
);
create index api_keys_org on api_keys (org_id, created_at desc, id);
call protect_tenant('api_keys');
