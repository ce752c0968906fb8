-- The tables and functions that core itself reads. Modules have migrations of their own, which run after this file.

-- ====================================================================================================
-- Foundations: what a connection may reach, and how a table is closed to everything else
-- ====================================================================================================

-- The organizations that a transaction announces (core/work) are those that it reaches; without an announcement it reaches none.
create function app_org_ids() returns uuid[] language sql stable parallel safe as
$$ select coalesce(nullif(current_setting('app.org_ids', true), ''), '{}')::uuid[] $$;

-- The partner whose own rows the caller may read and write (partner scope only).
create function app_partner_id() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('app.partner_id', true), '')::uuid $$;

-- The partner above the reached organizations: its shared rows may be read, never written, by organization callers.
create function app_owner_partner_id() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('app.owner_partner_id', true), '')::uuid $$;

-- Forced row-level security. The scalar subqueries are evaluated once a statement, not once a row, and `= any` keeps
-- the index on the organization usable. A table with a partner column holds rows owned by one of the two.
create procedure protect_tenant(target regclass, org_column text default 'org_id', partner_column text default null)
language plpgsql as $$
declare
  org_test text := format('%I = any ((select app_org_ids())::uuid[])', org_column);
  readable text := org_test;
  writable text := org_test;
begin
  if partner_column is not null then
    readable := format('%s or (%I is null and %I in ((select app_partner_id()), (select app_owner_partner_id())))',
      org_test, org_column, partner_column);
    writable := format('%s or (%I is null and %I = (select app_partner_id()))', org_test, org_column, partner_column);
  end if;
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy tenant_read on %s for select to quartermaster_app using (%s)', target, readable);
  execute format('create policy tenant_insert on %s for insert to quartermaster_app with check (%s)', target, writable);
  execute format('create policy tenant_update on %s for update to quartermaster_app using (%s) with check (%s)',
    target, writable, writable);
  execute format('create policy tenant_delete on %s for delete to quartermaster_app using (%s)', target, writable);
  execute format('create policy platform on %s to quartermaster_platform using (true) with check (true)', target);
  execute format('create policy owner on %s to current_user using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to quartermaster_app, quartermaster_platform', target);
end $$;

-- A table of the platform itself: the tenant role has no access.
create procedure protect_platform(target regclass) language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy platform on %s to quartermaster_platform using (true) with check (true)', target);
  execute format('create policy owner on %s to current_user using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to quartermaster_platform', target);
end $$;

-- Daily partitions named <table>_yYYYYmMMdDD are created ahead of time and dropped as a whole when they are old.
create function ensure_daily_partitions(target regclass, days_ahead integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made integer := 0;
  part text;
  part_day date;
begin
  for step in -1 .. days_ahead loop
    part_day := (now() at time zone 'utc')::date + step;
    part := format('%s_%s', target::text, to_char(part_day, '"y"YYYY"m"MM"d"DD'));
    if to_regclass(part) is null then
      execute format('create table if not exists %I partition of %s for values from (%L) to (%L)',
        part, target, part_day::timestamp at time zone 'utc', (part_day + 1)::timestamp at time zone 'utc');
      execute format('alter table %I enable row level security', part);
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;

create function drop_daily_partitions(target regclass, keep_days integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  gone integer := 0;
  part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = target loop
    if to_date(right(part::text, 11), '"y"YYYY"m"MM"d"DD') < (now() at time zone 'utc')::date - keep_days then
      execute format('drop table %s', part);
      gone := gone + 1;
    end if;
  end loop;
  return gone;
end $$;
revoke all on function ensure_daily_partitions(regclass, integer), drop_daily_partitions(regclass, integer) from public;
grant execute on function ensure_daily_partitions(regclass, integer), drop_daily_partitions(regclass, integer)
  to quartermaster_platform;

-- Creates the coming days for every partitioned table, of core and of modules.
create function ensure_partitions_ahead(days_ahead integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made integer := 0;
  tab regclass;
begin
  -- Two processes that start at once would make the same table.
  perform pg_advisory_xact_lock(7203414);
  for tab in select c.oid::regclass from pg_class c
    where c.relkind = 'p' and not c.relispartition and c.relnamespace = 'public'::regnamespace order by c.relname loop
    made := made + ensure_daily_partitions(tab, days_ahead);
  end loop;
  return made;
end $$;
revoke all on function ensure_partitions_ahead(integer) from public;
grant execute on function ensure_partitions_ahead(integer) to quartermaster_platform;

-- ====================================================================================================
-- Tenancy: partner > organization > site
-- ====================================================================================================

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

-- ====================================================================================================
-- Identity: users, roles, sessions and API keys, as far as every request needs them
-- ====================================================================================================

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
  updated_at timestamptz not null default now(),
  -- When the person first opened a link that was mailed to the address. Until then the account may have been created by someone
  -- else, so an invitation or a reset link discards the credentials that were set before.
  email_proven_at timestamptz
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

-- One row for each login. `token_hash` is the hash of the newest refresh token; presenting an older one ends the session.
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

-- The built-in roles. Each partner gets a Partner Admin role of its own when it registers.
insert into roles (id, scope, name, description, is_system, force_mfa) values
  ('00000000-0000-4000-8000-000000000001', 'system', 'System Administrator', 'Everything, for every tenant', true, false),
  ('00000000-0000-4000-8000-000000000002', 'organization', 'Organization Admin', 'Everything within one organization', true, false),
  ('00000000-0000-4000-8000-000000000003', 'organization', 'Technician', 'Sees and works on devices, scripts and alerts', true, false),
  ('00000000-0000-4000-8000-000000000004', 'organization', 'Viewer', 'Sees everything, changes nothing', true, false);

insert into role_permissions (role_id, permission_id)
select r.id, p.id from roles r join permissions p on
  case r.name
    when 'Technician' then p.resource in ('devices', 'scripts', 'alerts', 'automations', 'remote') or (p.resource <> '*' and p.action = 'view')
    when 'Viewer' then p.resource <> '*' and p.action = 'view'
    else p.resource = '*'
  end
where r.is_system;

-- ====================================================================================================
-- Audit trail: an outbox filled by the transaction of the request, and one hash chain for each owner
-- ====================================================================================================

create table audit_outbox (
  id bigint generated always as identity primary key,
  org_id uuid,
  partner_id uuid,
  entry jsonb not null,
  -- Entries of one owner lie in one shard, in the order of their ids; each shard has one sealer at a time.
  shard smallint not null
    generated always as ((hashtext(coalesce(coalesce(org_id, partner_id)::text, 'platform')) & 15)::smallint) stored
);
create index audit_outbox_shard on audit_outbox (shard, id);
call protect_platform('audit_outbox');

create table audit_logs (
  id uuid primary key,
  -- the chain that the row belongs to: 'org:<uuid>', 'partner:<uuid>' or 'platform'
  owner text not null,
  seq bigint not null,
  org_id uuid,
  partner_id uuid,
  timestamp timestamptz not null default now(),
  actor_type text not null check (actor_type in ('user', 'api_key', 'agent', 'system')),
  actor_id uuid not null,
  actor_email varchar(255),
  actor_name varchar(255),
  action varchar(100) not null,
  resource_type varchar(50) not null,
  resource_id uuid not null,
  resource_name varchar(255),
  details jsonb not null default '{}',
  ip_address varchar(45),
  user_agent text,
  result text not null check (result in ('success', 'failure', 'denied')),
  error_message text,
  checksum varchar(128) not null,
  prev_checksum varchar(128),
  unique (owner, seq)
);
-- A row lies in the chain of the tenant that sees it.
alter table audit_logs add constraint audit_logs_owner check (owner = case
  when org_id is not null then 'org:' || org_id::text
  when partner_id is not null then 'partner:' || partner_id::text
  else 'platform' end) not valid;
create index audit_logs_org on audit_logs (org_id, timestamp desc, id desc);
create index audit_logs_partner on audit_logs (partner_id, timestamp desc, id desc) where org_id is null;

create table audit_heads (
  owner text primary key,
  seq bigint not null,
  checksum varchar(128) not null,
  -- HMAC made with a key that the database does not have
  proof text not null default '',
  -- why the chain can never be valid again
  fault text
);
call protect_platform('audit_heads');

alter table audit_logs enable row level security;
alter table audit_logs force row level security;
create policy tenant_read on audit_logs for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[])
         or (org_id is null and partner_id = (select app_partner_id())));
create policy platform_read on audit_logs for select to quartermaster_platform using (true);
create policy platform_append on audit_logs for insert to quartermaster_platform with check (true);
create policy owner on audit_logs to current_user using (true) with check (true);
create policy audit_admin on audit_logs to quartermaster_audit_admin using (true) with check (true);
grant select on audit_logs to quartermaster_app;
grant select, insert on audit_logs to quartermaster_platform;
grant select, delete on audit_logs to quartermaster_audit_admin;

-- Refuses every change but retention, which deletes only rows that an anchor (audit_anchors) already covers.
create function refuse_audit_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'DELETE' and current_user = 'quartermaster_audit_admin'
     and current_setting('app.audit_retention', true) = 'on'
     and old.seq <= (select a.seq from public.audit_anchors a where a.owner = old.owner) then
    return old;
  end if;
  raise exception 'audit_logs is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end $$;
create trigger audit_logs_append_only before update or delete on audit_logs
  for each row execute function refuse_audit_change();
create trigger audit_logs_no_truncate before truncate on audit_logs
  for each statement execute function refuse_audit_change();
-- Fires also in sessions that set session_replication_role to bypass triggers.
alter table audit_logs enable always trigger audit_logs_append_only;
alter table audit_logs enable always trigger audit_logs_no_truncate;

-- ====================================================================================================
-- Proofs of the audit trail: Merkle trees with signed checkpoints, and retention with anchors
-- ====================================================================================================

-- What retention deleted: the last row deleted, and the hashes of the tree up to it, which the remaining rows continue.
create table audit_anchors (
  owner text primary key,
  seq bigint not null check (seq > 0),
  checksum varchar(128) not null,
  -- rows deleted so far
  count bigint not null,
  -- hashes of the complete subtrees up to seq, largest first, 32 bytes each
  frontier bytea not null,
  pruned_at timestamptz not null default now(),
  proof text not null
);
call protect_platform('audit_anchors');
create policy audit_admin on audit_anchors for select to quartermaster_audit_admin using (true);
grant select on audit_anchors to quartermaster_audit_admin;

-- The number of rows of a chain that the Merkle tree covers, and its hashes in tiles of 256 (C2SP tlog-tiles).
create table audit_trees (
  owner text primary key,
  size bigint not null check (size >= 0)
);
call protect_platform('audit_trees');
create table audit_tiles (
  owner text not null,
  level smallint not null,
  index bigint not null,
  hashes bytea not null check (length(hashes) % 32 = 0 and length(hashes) <= 8192),
  primary key (owner, level, index)
);
alter table audit_tiles alter column hashes set storage external;
call protect_platform('audit_tiles');

create table audit_signing_keys (
  -- the key id of C2SP signed-note: 8 hex digits
  id text primary key,
  name text not null,
  -- raw Ed25519 public key
  public_key bytea not null,
  -- HMAC that ties the public key to this installation, so that a replaced key is detected
  proof text not null,
  -- null once the key is retired
  sealed_private_key text,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index audit_signing_keys_current on audit_signing_keys ((true)) where retired_at is null;
call protect_platform('audit_signing_keys');

create table audit_checkpoints (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  org_id uuid,
  partner_id uuid,
  size bigint not null check (size > 0),
  root_hash bytea not null check (length(root_hash) = 32),
  key_id text not null references audit_signing_keys (id),
  -- the signed note
  note text not null,
  created_at timestamptz not null default now(),
  -- when it was written to object storage
  stored_at timestamptz,
  unique (owner, size, key_id)
);
create index audit_checkpoints_newest on audit_checkpoints (owner, created_at desc, id desc);
create index audit_checkpoints_unstored on audit_checkpoints (created_at) where stored_at is null;
create index audit_checkpoints_age on audit_checkpoints (created_at);
create index audit_checkpoints_key on audit_checkpoints (key_id);
alter table audit_checkpoints enable row level security;
alter table audit_checkpoints force row level security;
create policy tenant_read on audit_checkpoints for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[])
         or (org_id is null and partner_id = (select app_partner_id())));
create policy platform on audit_checkpoints to quartermaster_platform using (true) with check (true);
create policy owner on audit_checkpoints to current_user using (true) with check (true);
grant select on audit_checkpoints to quartermaster_app;
grant select, insert, update, delete on audit_checkpoints to quartermaster_platform;

create table audit_retention_policies (
  org_id uuid primary key references organizations (id),
  retention_days integer not null default 365 check (retention_days between 1 and 3650),
  archive_to_s3 boolean not null default false,
  last_cleanup_at timestamptz,
  updated_at timestamptz not null default now()
);
call protect_tenant('audit_retention_policies');

-- ====================================================================================================
-- Events and jobs
-- ====================================================================================================

create table events (
  id uuid primary key,
  name text not null,
  org_id uuid,
  site_id uuid,
  device_id uuid,
  occurred_at timestamptz not null default now(),
  actor jsonb not null,
  data jsonb not null,
  -- An order in which nothing can appear before the last event that a reader has read (GET /events).
  xid xid8 not null default pg_current_xact_id(),
  seq bigint not null generated always as identity
);
create index events_org on events (org_id, occurred_at desc, id);
create index events_age on events (occurred_at);
create index events_order on events (xid, seq);
create index events_org_order on events (org_id, xid, seq);
call protect_tenant('events');

create table worker_nodes (
  id text primary key,
  started_at timestamptz not null default now(),
  heartbeat_at timestamptz not null default now(),
  version text not null,
  concurrency integer not null,
  state text not null default 'running' check (state in ('running', 'draining', 'stopped', 'lost')),
  -- the ids of the node's worker pools, under which it locks jobs
  worker_ids text[] not null default '{}',
  active_jobs integer not null default 0,
  tasks text[] not null default '{}',
  drain_requested_at timestamptz
);
call protect_platform('worker_nodes');

create table job_runs (
  job_id bigint not null,
  task text not null,
  queue text,
  key text,
  attempt integer not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  duration_ms integer not null,
  -- interrupted: the worker died or was stopped; skipped: the module is disabled for the organization
  outcome text not null check (outcome in ('success', 'error', 'failed', 'interrupted', 'skipped')),
  error_message varchar(2000),
  error_fingerprint varchar(64),
  node_id text not null,
  org_id uuid,
  wait_ms integer,
  -- what the job was about; its payload is never recorded
  subject_type varchar(50),
  subject_id varchar(100)
) partition by range (finished_at);
create index job_runs_job on job_runs (job_id);
create index job_runs_task on job_runs (task, finished_at desc);
create index job_runs_bad on job_runs (task, finished_at desc) where outcome <> 'success';
create index job_runs_age on job_runs (finished_at desc, job_id, attempt);
call protect_platform('job_runs');
select ensure_daily_partitions('job_runs', 7);

-- Writes everything that a unit of work leaves behind besides its rows, in one round trip with the commit. The tables of the
-- queue are out of reach for tenants, so the function runs as its owner. The flags of a job let workers leave out tenants at
-- their limit and paused tasks.
create function flush_effects(effects jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  notice jsonb;
begin
  if effects ? 'audits' then
    insert into audit_outbox (org_id, partner_id, entry)
    select (a ->> 'orgId')::uuid, (a ->> 'partnerId')::uuid, a
    from jsonb_array_elements(effects -> 'audits') a;
  end if;
  if effects ? 'events' then
    insert into events (id, name, org_id, site_id, device_id, actor, data)
    select (e ->> 'id')::uuid, e ->> 'name', (e ->> 'orgId')::uuid, (e ->> 'siteId')::uuid, (e ->> 'deviceId')::uuid,
           e -> 'actor', e -> 'data'
    from jsonb_array_elements(effects -> 'events') e;
  end if;
  if effects ? 'jobs' then
    perform graphile_worker.add_jobs(array(
      select row(j ->> 'task', (j -> 'payload')::json, j ->> 'queue', (j ->> 'runAt')::timestamptz,
                 (j ->> 'maxAttempts')::smallint, j ->> 'key', (j ->> 'priority')::smallint,
                 case when j ? 'flags' then array(select jsonb_array_elements_text(j -> 'flags')) end
                )::graphile_worker.job_spec
      from jsonb_array_elements(effects -> 'jobs') j));
  end if;
  if effects ? 'notices' then
    for notice in select * from jsonb_array_elements(effects -> 'notices') loop
      perform pg_notify(notice ->> 'channel', notice ->> 'payload');
    end loop;
  end if;
end $$;
revoke all on function flush_effects(jsonb) from public;
grant execute on function flush_effects(jsonb) to quartermaster_app, quartermaster_platform;

-- ====================================================================================================
-- Delivery queues: messages to receivers outside (core/delivery)
-- ====================================================================================================

-- Makes a table a delivery queue: adds the columns and indexes that core/delivery uses. The table needs a key `id`, the id of the
-- message; `org_id`; and the columns of its partition, of which the first is the receiver. A row leaves the queue when its message
-- was delivered or given up.
create procedure make_delivery_queue(target regclass, variadic partition text[]) language plpgsql as $$
declare
  columns text := (select string_agg(format('%I', c), ', ' order by n) from unnest(partition) with ordinality x (c, n));
begin
  execute format('alter table %s
    add column created_at timestamptz not null default now(),
    add column due_at timestamptz not null default now(),
    add column attempts integer not null default 0,
    add column lease uuid,
    add column leased_until timestamptz,
    set (fillfactor = 70)', target);
  execute format('comment on column %s.due_at is %L', target, 'while leased: the end of the lease; infinity: not before it is set anew');
  execute format('create index %I on %s (%s, due_at)', target || '_due', target, columns);
  execute format('create index %I on %s (%s) where leased_until is not null', target || '_leased', target, columns);
end $$;

-- Hosts whose connections fail, by queue: the circuit breaker.
create table delivery_hosts (
  queue text not null,
  host text not null,
  failures integer not null,
  paused_until timestamptz,
  primary key (queue, host)
);
call protect_platform('delivery_hosts');

-- ====================================================================================================
-- Queue operations: exact counts for each minute, snapshots, schedules, paused tasks, health
-- ====================================================================================================

-- Failed attempts are kept longer than the days of job_runs.
create table job_failures (
  job_id bigint not null,
  task text not null,
  queue text,
  key text,
  attempt integer not null,
  started_at timestamptz not null,
  finished_at timestamptz not null,
  duration_ms integer not null,
  outcome text not null,
  error_message varchar(2000),
  error_fingerprint varchar(64),
  node_id text not null,
  org_id uuid,
  wait_ms integer,
  subject_type varchar(50),
  subject_id varchar(100)
);
create index job_failures_age on job_failures (finished_at);
create index job_failures_job on job_failures (job_id);
call protect_platform('job_failures');

-- Exact counts, also where job_runs holds only a sample. Each node writes its own rows, so that nodes do not wait for each other.
create table job_stats_minute (
  minute timestamptz not null,
  task text not null,
  node_id text not null,
  started integer not null,
  succeeded integer not null,
  errored integer not null,
  failed integer not null,
  duration_sum bigint not null,
  duration_max integer not null,
  wait_sum bigint not null,
  wait_max integer not null,
  -- counts by upper bound in ms; the bounds are in core/jobs/stats.ts
  durations integer[] not null,
  waits integer[] not null,
  primary key (minute, task, node_id)
) partition by range (minute);
call protect_platform('job_stats_minute');
select ensure_daily_partitions('job_stats_minute', 7);

-- Every 15 seconds one row for each task with waiting jobs, and one with task '' for the whole queue.
create table queue_snapshots (
  at timestamptz not null,
  task text not null,
  ready integer not null,
  blocked integer not null,
  delayed integer not null,
  locked integer not null,
  retrying integer not null,
  failed integer not null,
  cancelled integer not null,
  stuck integer not null,
  oldest_ready_at timestamptz,
  oldest_locked_at timestamptz,
  primary key (at, task)
);
call protect_platform('queue_snapshots');

-- Tenants with so many waiting jobs that others would be delayed; their jobs are queued separately (core/jobs/lanes.ts).
create table queue_lanes (
  org_id uuid primary key,
  waiting integer not null
);
call protect_platform('queue_lanes');

create table cron_status (
  identifier text primary key,
  last_expected timestamptz,
  last_run timestamptz,
  last_outcome text,
  last_duration_ms integer
);
call protect_platform('cron_status');

create table paused_tasks (
  task text primary key,
  paused_at timestamptz not null default now(),
  paused_by uuid,
  reason varchar(500)
);
call protect_platform('paused_tasks');

-- State of the health rules: the level reported, and the level seen since when. A reported level changes with a delay.
create table queue_health (
  rule text not null,
  subject text not null,
  level text not null check (level in ('ok', 'warn', 'critical')),
  seen text not null check (seen in ('ok', 'warn', 'critical')),
  seen_since timestamptz not null,
  since timestamptz not null,
  detail text not null,
  primary key (rule, subject)
);
call protect_platform('queue_health');

-- Work that waits in the tables of modules, as the modules report it.
create table domain_queues (
  name text primary key,
  title text not null,
  pending integer not null,
  oldest_at timestamptz,
  failed integer not null,
  link text not null,
  counted_at timestamptz not null default now()
);
call protect_platform('domain_queues');

-- ====================================================================================================
-- Queue functions: what the role of the platform may ask of the queue and do to it
-- ====================================================================================================
-- They use graphile-worker's own view and functions only.

-- Counts of the whole queue. `held` lists the running jobs, from which the caller decides which are stuck; `put_off` lists
-- deferred jobs whose worker died before it gave the attempt back.
create function queue_counts()
returns table (task text, ready integer, blocked integer, delayed integer, locked integer, retrying integer,
  failed integer, cancelled integer, oldest_ready_at timestamptz, oldest_locked_at timestamptz, held jsonb,
  put_off bigint[])
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query
  with busy as materialized (
    select distinct b.queue_name from graphile_worker.jobs b where b.locked_at is not null and b.queue_name is not null)
  select j.task_identifier,
    (count(*) filter (where f.open and j.run_at <= now() and b.queue_name is null))::int,
    (count(*) filter (where f.open and j.run_at <= now() and b.queue_name is not null))::int,
    (count(*) filter (where f.open and j.run_at > now() and j.attempts = 0))::int,
    (count(*) filter (where j.locked_at is not null))::int,
    (count(*) filter (where f.open and j.run_at > now() and j.attempts > 0))::int,
    (count(*) filter (where f.over and not f.ended))::int,
    (count(*) filter (where f.over and f.ended))::int,
    min(j.run_at) filter (where f.open and j.run_at <= now()),
    min(j.locked_at),
    coalesce(jsonb_agg(jsonb_build_object('lockedAt', j.locked_at, 'lockedBy', j.locked_by))
      filter (where j.locked_at is not null), '[]'),
    array_agg(j.id) filter (where f.over and j.last_error like 'Put off: %')
  from graphile_worker.jobs j
  left join busy b on b.queue_name = j.queue_name
  cross join lateral (select
    j.locked_at is null and j.attempts < j.max_attempts as open,
    j.locked_at is null and j.attempts >= j.max_attempts as over,
    coalesce(j.last_error like 'Cancelled: %', false) as ended) f
  group by 1;
end $$;

-- Tenants with more than `threshold` ready jobs.
create function queue_backlogs(threshold integer) returns table (org_id uuid, waiting integer)
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return query
  select substr(f.flag, 5)::uuid, count(*)::int
  from graphile_worker.jobs j cross join lateral jsonb_object_keys(j.flags) f(flag)
  where j.flags is not null and j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
    and f.flag like 'org:%'
  group by 1 having count(*) > threshold;
end $$;

-- Jobs that match a filter, in the order of their ids. Filter keys, all optional: ids, id, task, queue, key, orgId,
-- errorContains, state, held (running). `slow` has, by task, the milliseconds after which a running job counts as stuck.
create function queue_jobs(filter jsonb, slow jsonb, after bigint, skip integer, most integer)
returns table (id bigint, task text, queue text, key text, priority integer, run_at timestamptz, attempts integer,
  max_attempts integer, last_error text, created_at timestamptz, updated_at timestamptz, locked_at timestamptz,
  locked_by text, org_id uuid, node_id text, state text)
language plpgsql stable security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
declare
  wanted bigint[] := (select array_agg(i::bigint) from jsonb_array_elements_text(filter -> 'ids') i);
  org_flag text := 'org:' || (filter ->> 'orgId');
begin
  return query
  with busy as materialized (
    select distinct b.queue_name, b.locked_by from graphile_worker.jobs b
    where b.locked_at is not null and b.queue_name is not null)
  select j.id, j.task_identifier, j.queue_name, j.key, j.priority::int, j.run_at, j.attempts::int, j.max_attempts::int,
    j.last_error, j.created_at, j.updated_at, j.locked_at, j.locked_by,
    (select substr(k, 5)::uuid from jsonb_object_keys(j.flags) k where k like 'org:%' limit 1), n.id, s.state
  from graphile_worker.jobs j
  left join worker_nodes n on j.locked_at is not null and j.locked_by = any(n.worker_ids)
  cross join lateral (select case
    when j.locked_at is not null then case
      when n.id is null or n.state not in ('running', 'draining')
        or n.heartbeat_at < now() - interval '20 seconds' then 'stuck'
      when now() - j.locked_at > make_interval(secs => coalesce((slow ->> j.task_identifier)::float8, 600000) / 1000)
        then 'stuck'
      else 'running' end
    when j.attempts >= j.max_attempts then
      case when j.last_error like 'Cancelled: %' then 'cancelled' else 'failed' end
    when j.run_at > now() then case when j.attempts > 0 then 'retrying' else 'delayed' end
    when exists (select from busy b where b.queue_name = j.queue_name) then 'blocked'
    else 'ready' end as state) s
  where j.id > after
    and (wanted is null or j.id = any(wanted))
    and (filter ->> 'id' is null or j.id = (filter ->> 'id')::bigint)
    and (filter ->> 'held' is null or j.locked_at is not null)
    and (filter ->> 'task' is null or j.task_identifier = filter ->> 'task')
    and (filter ->> 'queue' is null or j.queue_name = filter ->> 'queue')
    and (filter ->> 'key' is null or j.key = filter ->> 'key')
    and (org_flag is null or j.flags ? org_flag)
    and (filter ->> 'errorContains' is null or strpos(lower(j.last_error), lower(filter ->> 'errorContains')) > 0)
    and (filter ->> 'state' is null or s.state = filter ->> 'state')
  order by j.id limit most offset skip;
end $$;

-- The number of jobs that the workers take before this one, counted up to 10,000.
create function queue_ahead(job bigint) returns integer
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return (select count(*) from (
    select from graphile_worker.jobs a, graphile_worker.jobs j
    where j.id = job and a.id <> j.id and a.locked_at is null and a.attempts < a.max_attempts and a.run_at <= now()
      and (a.priority, a.run_at, a.id) < (j.priority, j.run_at, j.id) limit 10000) ahead);
end $$;

-- Reschedules jobs that are not running, from the first attempt (`fresh`) or with one more attempt. Returns the changed ids.
create function queue_retry(jobs bigint[], at timestamptz, fresh boolean) returns setof bigint
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  one record;
begin
  if fresh then
    return query select r.id from graphile_worker.reschedule_jobs(jobs, run_at := at, attempts := 0) r;
    return;
  end if;
  for one in select j.max_attempts, j.attempts, array_agg(j.id) as ids from graphile_worker.jobs j
    where j.id = any(jobs) group by 1, 2 loop
    return query select r.id from graphile_worker.reschedule_jobs(one.ids, run_at := at,
      max_attempts := least(32767, greatest(one.max_attempts, one.attempts + 1))) r;
  end loop;
end $$;

create function queue_cancel(jobs bigint[], why text) returns setof bigint
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query select r.id from graphile_worker.permanently_fail_jobs(jobs, 'Cancelled: ' || why) r;
end $$;

create function queue_delete(jobs bigint[]) returns setof bigint
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return query select r.id from graphile_worker.complete_jobs(jobs) r;
end $$;

-- Defers up to `most` ready jobs of a task without changing their attempts. Returns the number of jobs.
create function queue_put_off(of_task text, until timestamptz, most integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return (select count(*) from graphile_worker.reschedule_jobs(array(
    select j.id from graphile_worker.jobs j
    where j.task_identifier = of_task and j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()
    limit most), run_at := until));
end $$;

-- Starts a schedule now, as its timer would. Returns the id of the job that creates its runs.
create function queue_start(schedule text) returns bigint
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  return (select id from graphile_worker.add_job('core/start', json_build_object('job', schedule), max_attempts := 3));
end $$;

-- Unlocks the jobs of the given workers and records it in the history. The attempt is given back at most three times for each
-- job, so that a job that kills its worker every time does not run forever.
create function interrupt_jobs(holders text[], node text, why text) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  held bigint[];
  spent integer[];
begin
  select array_agg(j.id), array_agg(j.attempts::int) into held, spent
  from graphile_worker.jobs j where j.locked_by = any(holders);
  insert into job_runs (job_id, task, queue, key, attempt, started_at, finished_at, duration_ms, outcome, error_message,
    error_fingerprint, node_id, org_id)
  select j.id, j.task_identifier, j.queue_name, j.key, j.attempts, j.locked_at, now(),
    least(2147483647, extract(epoch from now() - j.locked_at) * 1000)::int, 'interrupted', why, md5(j.task_identifier || why),
    node,
    (select substr(k, 5)::uuid from jsonb_object_keys(j.flags) k where k like 'org:%' limit 1)
  from graphile_worker.jobs j where j.id = any(held);
  perform graphile_worker.force_unlock_workers(holders);
  for n in 1 .. coalesce(array_length(held, 1), 0) loop
    if spent[n] > 0 and
      (select count(*) from job_runs r where r.job_id = held[n] and r.outcome = 'interrupted') <= 3 then
      perform graphile_worker.reschedule_jobs(array[held[n]], attempts := spent[n] - 1);
    end if;
  end loop;
  return coalesce(array_length(held, 1), 0);
end $$;

revoke all on function queue_counts(), queue_backlogs(integer), queue_jobs(jsonb, jsonb, bigint, integer, integer),
  queue_ahead(bigint), queue_retry(bigint[], timestamptz, boolean), queue_cancel(bigint[], text), queue_delete(bigint[]),
  queue_put_off(text, timestamptz, integer), queue_start(text), interrupt_jobs(text[], text, text) from public;
grant execute on function queue_counts(), queue_backlogs(integer), queue_jobs(jsonb, jsonb, bigint, integer, integer),
  queue_ahead(bigint), queue_retry(bigint[], timestamptz, boolean), queue_cancel(bigint[], text), queue_delete(bigint[]),
  queue_put_off(text, timestamptz, integer), queue_start(text), interrupt_jobs(text[], text, text)
  to quartermaster_platform;

-- ====================================================================================================
-- Changes of principals
-- ====================================================================================================
-- Processes cache for one second who a caller is and what the caller reaches. Triggers notify all processes of every change of
-- these tables, whatever code path makes it.

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

-- An organization can require a second factor in its settings, and a role with force_mfa requires an authenticator.
create trigger principals_changed_settings after update of settings on organizations
  for each statement execute function principals_changed();
create trigger principals_changed_method after update of mfa_method on users
  for each statement execute function principals_changed();

-- New memberships take effect immediately, as removed ones do.
create trigger principals_changed_place after insert on partner_users
  for each statement execute function principals_changed();
create trigger principals_changed_place after insert on organization_users
  for each statement execute function principals_changed();

-- ====================================================================================================
-- Membership in device groups
-- ====================================================================================================
-- The table belongs to core because access can be limited to groups: every query over devices reads it
-- (core/database/reach.ts). The module device-groups adds the foreign keys and is the only writer; without that module
-- no device is in a group.

create table device_group_members (
  group_id uuid not null,
  device_id uuid not null,
  org_id uuid not null,
  added_at timestamptz not null default now(),
  added_by text not null check (added_by in ('manual', 'dynamic_rule', 'policy', 'enrollment')),
  added_by_user_id uuid,
  -- remains a member even when the rule does not match
  is_pinned boolean not null default false,
  -- is not a member even when the rule matches: such a row is the opposite of a membership
  is_excluded boolean not null default false,
  pinned_by uuid,
  pinned_at timestamptz,
  pin_reason varchar(255),
  -- since when the rule no longer matches, during the grace period before removal
  unmatch_since timestamptz,
  primary key (group_id, device_id),
  check (not (is_pinned and is_excluded))
);
-- Covers the question that is asked for each device that a caller limited to groups lists.
create index device_group_members_device on device_group_members (device_id) include (group_id, is_excluded, org_id);
create index device_group_members_pinned on device_group_members (group_id) where is_pinned;
call protect_tenant('device_group_members');

create function groups_of_device(device uuid) returns uuid[] language sql stable as $$
  select array(select m.group_id from device_group_members m where m.device_id = device and not m.is_excluded)
$$;

-- ====================================================================================================
-- Idempotency keys: responses to requests that carried an Idempotency-Key, kept for a day
-- ====================================================================================================

create table idempotency_keys (
  caller text not null,
  route text not null,
  key varchar(128) not null,
  -- covers path, query and body
  request_hash text not null,
  status integer,
  answer json,
  created_at timestamptz not null default now(),
  primary key (caller, route, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);
call protect_platform('idempotency_keys');

-- Returns no row when the key is new or expired. The key is then locked until the transaction ends, and other requests with the
-- same key wait.
create function take_idempotency_key(who text, what text, given text, hash text)
returns table (request_hash text, status integer, answer json)
language plpgsql security definer set search_path = public, pg_temp as $$
#variable_conflict use_column
begin
  insert into idempotency_keys as k (caller, route, key, request_hash) values (who, what, given, hash)
  on conflict (caller, route, key) do update
    set request_hash = excluded.request_hash, status = null, answer = null, created_at = now()
    where k.created_at < now() - interval '24 hours';
  if found then
    return;
  end if;
  return query select k.request_hash, k.status, k.answer from idempotency_keys k
    where k.caller = who and k.route = what and k.key = given;
end $$;

-- Stores the responses in the round trip of the commit.
create function keep_idempotent_answers(answered jsonb) returns void
language sql security definer set search_path = public, pg_temp as $$
  update idempotency_keys k set status = a.status, answer = a.answer
  from jsonb_to_recordset(answered) a (caller text, route text, key text, status integer, answer json)
  where k.caller = a.caller and k.route = a.route and k.key = a.key
$$;
revoke all on function take_idempotency_key(text, text, text, text),
  keep_idempotent_answers(jsonb) from public;
grant execute on function take_idempotency_key(text, text, text, text),
  keep_idempotent_answers(jsonb) to quartermaster_app, quartermaster_platform;

-- ====================================================================================================
-- Modules: which are enabled for the installation, for partners and for organizations
-- ====================================================================================================

create table instance_modules (
  key text primary key,
  enabled boolean not null,
  -- partners may not change it
  locked boolean not null default false,
  reason varchar(500),
  updated_by uuid,
  updated_at timestamptz not null default now()
);
call protect_platform('instance_modules');

-- The switch of a partner for itself (no organization) or for one of its organizations. Without a row the level above decides.
create table tenant_modules (
  id uuid primary key default gen_random_uuid(),
  partner_id uuid not null references partners (id),
  org_id uuid references organizations (id),
  key text not null,
  enabled boolean not null,
  source text not null default 'manual' check (source in ('manual', 'plan', 'trial')),
  -- end of a trial: the module is disabled from then on
  expires_at timestamptz,
  -- the last notice sent, in days before the end of the trial
  noticed_days integer,
  reason varchar(500),
  updated_by uuid,
  updated_at timestamptz not null default now(),
  unique nulls not distinct (partner_id, org_id, key),
  check (expires_at is null or source = 'trial')
);
create index tenant_modules_org on tenant_modules (org_id);
create index tenant_modules_trials on tenant_modules (expires_at) where expires_at is not null and enabled;
call protect_tenant('tenant_modules', 'org_id', 'partner_id');

-- Every process keeps the switches in memory and is notified of every change, whatever code path makes it.
create function modules_changed() returns trigger language plpgsql as $$
begin
  perform pg_notify('quartermaster', format('["modules","%s"]', tg_argv[0]));
  return null;
end $$;
create trigger modules_changed after insert or update or delete on instance_modules
  for each statement execute function modules_changed('*');
create trigger modules_changed after insert or update or delete on tenant_modules
  for each statement execute function modules_changed('*');
create trigger modules_plan_changed after update of plan on partners
  for each statement execute function modules_changed('*');
create trigger modules_tenant_added after insert on partners
  for each statement execute function modules_changed('tenants');
create trigger modules_tenant_added after insert on organizations
  for each statement execute function modules_changed('tenants');

-- The number of waiting jobs of a module, for some organizations or for all.
create function pending_module_jobs(module text, orgs uuid[]) returns bigint
language plpgsql stable security definer set search_path = public, pg_temp as $$
begin
  return (select count(*) from graphile_worker._private_jobs j join graphile_worker._private_tasks t on t.id = j.task_id
    where starts_with(t.identifier, module || '/')
      and (orgs is null or (j.payload ->> 'orgId')::uuid = any(orgs)));
end $$;
revoke all on function pending_module_jobs(text, uuid[]) from public;
grant execute on function pending_module_jobs(text, uuid[]) to quartermaster_platform;

-- ====================================================================================================
-- Change log: what changed in the lists that can be followed (core/http/sync)
-- ====================================================================================================
-- One row for each change of what a list shows, with the current and the former place of the row. Rows are read only up to the
-- oldest transaction that is still open, so that none is missed.

create table sync_changes (
  -- the list, such as devices; a row of a list may come from several tables
  kind text not null,
  id uuid not null,
  org_id uuid,
  partner_id uuid,
  owner uuid generated always as (coalesce(org_id, partner_id)) stored,
  -- callers limited to sites or groups learn that a row is gone only where they could see it
  site_id uuid,
  group_ids uuid[],
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(org_id, partner_id) = 1)
);
create index sync_changes_order on sync_changes (kind, owner, xid, id);
create index sync_changes_age on sync_changes using brin (at);
call protect_tenant('sync_changes', 'org_id', 'partner_id');
-- Only the triggers write.
revoke insert, update, delete on sync_changes from quartermaster_app;

-- At time `at` every transaction before `xid` had ended: maps a time to a position, and says how far back the log reaches.
create table sync_horizons (
  at timestamptz primary key default now(),
  xid xid8 not null default pg_snapshot_xmin(pg_current_snapshot())
);
call protect_platform('sync_horizons');
insert into sync_horizons default values;

-- Positions are valid only in the same cluster, timeline and database.
create function sync_cluster() returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select left(md5(concat_ws(' ', (select system_identifier from pg_control_system()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8), (select oid from pg_database where datname = current_database()))), 12)
$$;

-- The position of a reader of changes, in one round trip. `unreached` is a digest of the removed organizations, which a caller
-- with access to all organizations (of a partner, or of all partners) no longer reaches.
create function sync_state(since timestamptz, of_partner uuid, reached uuid[], all_orgs boolean)
returns table (cluster text, upto xid8, oldest xid8, since_xid xid8, unreached text)
language sql stable security definer set search_path = public, pg_temp as $$
  select sync_cluster(), pg_snapshot_xmin(pg_current_snapshot()), (select min(h.xid) from sync_horizons h),
    (select h.xid from sync_horizons h where h.at <= since order by h.at desc limit 1),
    case when all_orgs then (
      select md5(string_agg(o.id::text, ',' order by o.id)) from organizations o join partners p on p.id = o.partner_id
      where case when of_partner is null then o.deleted_at is not null or p.deleted_at is not null
        else o.partner_id = of_partner and not o.id = any(reached) end) end
$$;
revoke all on function sync_cluster(), sync_state(timestamptz, uuid, uuid[], boolean) from public;
grant execute on function sync_cluster(), sync_state(timestamptz, uuid, uuid[], boolean)
  to quartermaster_app, quartermaster_platform;

-- Records changes of a table in the log of a list.
--   shown   the columns that the list shows, and those that decide whether and where it shows the row; null for all columns.
--           An update of other columns costs one comparison. Columns that every heartbeat writes must not be among them.
--   id, org, partner, site, groups   expressions over the row
create procedure track_changes(target regclass, kind text, shown text default null, id text default 'id',
  org text default 'org_id', partner text default 'null', site text default 'null', groups text default 'null')
language plpgsql as $body$
declare
  name text := format('track_%s_in_%s', kind, target);
  place text := format('(%s)::uuid, (%s)::uuid, (%s)::uuid', org, partner, site);
  note text := format(
    'insert into sync_changes (kind, id, org_id, partner_id, site_id, group_ids) select %L, %s, %s, (%s)::uuid[] from (select',
    kind, id, place, groups);
  differs text;
begin
  execute format($make$
    create function %1$I() returns trigger language plpgsql security definer set search_path = public, pg_temp as $note$
    begin
      if tg_op <> 'INSERT' then
        if tg_op = 'DELETE' then
          %2$s old.*) was;
        elsif (select row(%3$s) from (select old.*) was) is distinct from (select row(%3$s) from (select new.*) is_now) then
          %2$s old.*) was;
        end if;
      end if;
      if tg_op <> 'DELETE' then
        %2$s new.*) is_now;
      end if;
      return null;
    end $note$$make$, name, note, place);
  execute format('revoke all on function %I() from public', name);
  execute format('create trigger %I after insert or delete on %s for each row execute function %I()',
    name, target, name);
  differs := case when shown is null then 'old.* is distinct from new.*' else (
    select format('(%s) is distinct from (%s)', string_agg('old.' || trim(c), ', '), string_agg('new.' || trim(c), ', '))
    from regexp_split_to_table(shown, ',') c) end;
  execute format('create trigger %I after update on %s for each row when (%s) execute function %I()',
    name || '_update', target, differs, name);
end $body$;
