-- partner > organization > site (spec/2-tenancy, Resources and their fields)

create table partners (
  id uuid primary key default gen_random_uuid(),
  name varchar(255) not null,
  slug varchar(100) not null unique,
  type text not null default 'msp' check (type in ('msp', 'enterprise', 'internal')),
  plan text not null default 'free' check (plan in ('free', 'starter', 'community', 'pro', 'enterprise', 'unlimited')),
  status text not null default 'pending' check (status in ('pending', 'active', 'suspended', 'churned')),
  max_organizations integer check (max_organizations >= 0),
  max_devices integer check (max_devices >= 0),
  settings jsonb not null default '{}',
  sso_config jsonb,
  billing_email varchar(255),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
alter table partners enable row level security;
alter table partners force row level security;
create policy tenant_read on partners for select to quartermaster_app
  using (id in ((select app_partner_id()), (select app_owner_partner_id())));
create policy tenant_update on partners for update to quartermaster_app
  using (id = (select app_partner_id())) with check (id = (select app_partner_id()));
create policy platform on partners to quartermaster_platform using (true) with check (true);
create policy owner on partners to current_user using (true) with check (true);
grant select, update on partners to quartermaster_app;
grant select, insert, update, delete on partners to quartermaster_platform;

create table organizations (
  id uuid primary key default gen_random_uuid(),
  partner_id uuid not null references partners (id),
  name varchar(255) not null,
  slug varchar(100) not null,
  type text not null default 'customer' check (type in ('customer', 'internal')),
  status text not null default 'active' check (status in ('active', 'suspended', 'trial', 'churned')),
  max_devices integer check (max_devices >= 0),
  settings jsonb not null default '{}',
  sso_config jsonb,
  contract_start timestamptz,
  contract_end timestamptz,
  billing_contact jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  deleted_at timestamptz
);
create unique index organizations_slug on organizations (partner_id, slug) where deleted_at is null;
create index organizations_name on organizations (partner_id, lower(name), id) where deleted_at is null;
call protect_tenant('organizations', 'id');

create table sites (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  name varchar(255) not null,
  address jsonb,
  timezone varchar(50) not null default 'UTC',
  contact jsonb,
  settings jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (id, org_id)
);
create index sites_org on sites (org_id, lower(name), id);
call protect_tenant('sites');
