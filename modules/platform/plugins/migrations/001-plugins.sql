-- Plugins: the catalog, what is installed where, what waits for them, what they keep and what they said (domain/plugins)

create table plugin_catalog (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z][a-z0-9-]{2,63}$'),
  name varchar(100) not null,
  description varchar(2000) not null,
  author varchar(200) not null,
  type text not null check (type in ('integration', 'automation', 'reporting', 'collector', 'notification', 'ui')),
  category varchar(50),
  tags text[] not null default '{}',
  homepage_url varchar(500),
  documentation_url varchar(500),
  icon_url varchar(500),
  -- the newest that is not yanked; null when all are
  version text,
  source text not null default 'local' check (source in ('builtin', 'local', 'registry')),
  is_verified boolean not null default false,
  is_featured boolean not null default false,
  is_deprecated boolean not null default false,
  install_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index plugin_catalog_order on plugin_catalog ((is_featured::integer) desc, install_count desc, slug);

create table plugin_versions (
  id uuid primary key default gen_random_uuid(),
  catalog_id uuid not null references plugin_catalog (id),
  version text not null,
  manifest jsonb not null,
  package_sha256 text not null,
  -- 'keyId:base64' by a trusted key; null for what was taken without one
  signature text,
  signed_by text,
  -- bytes of the package, and when unpacked
  size integer not null,
  unpacked_size integer not null,
  yanked boolean not null default false,
  released_at timestamptz not null default now(),
  unique (catalog_id, version)
);
do $$
declare target text;
begin
  foreach target in array array['plugin_catalog', 'plugin_versions'] loop
    execute format('alter table %I enable row level security', target);
    execute format('alter table %I force row level security', target);
    execute format('create policy everybody on %I for select using (true)', target);
    execute format('create policy platform on %I to quartermaster_platform using (true) with check (true)', target);
    execute format('create policy owner on %I to current_user using (true) with check (true)', target);
    execute format('grant select on %I to quartermaster_app', target);
    execute format('grant select, insert, update on %I to quartermaster_platform', target);
  end loop;
end $$;

-- The packages themselves, so that every node has them.
create table plugin_packages (
  sha256 text primary key,
  content bytea not null
);
call protect_platform('plugin_packages');

create table plugin_installations (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  catalog_id uuid not null references plugin_catalog (id),
  slug text not null,
  version text not null,
  -- consent is bound to it
  package_sha256 text not null,
  -- while updating
  target_version text,
  status text not null default 'installing'
    check (status in ('installing', 'installed', 'updating', 'uninstalling', 'error')),
  enabled boolean not null default false,
  config jsonb not null default '{}',
  -- sealed, by key
  secret_config jsonb not null default '{}',
  granted_permissions text[] not null default '{}',
  -- what a newer version asks for beyond what was granted
  pending_permissions text[] not null default '{}',
  pending_version text,
  sandbox_enabled boolean not null default true,
  resource_limits jsonb not null default '{}',
  health text not null default 'ok' check (health in ('ok', 'degraded', 'crashed', 'disabled_by_system')),
  -- kinds of events that reach it, as manifest and grants say
  listens text[] not null default '{}',
  -- when its last processes died, at most five
  crashes timestamptz[] not null default '{}',
  -- calls of the current window of ten minutes
  window_started_at timestamptz not null default now(),
  window_calls integer not null default 0,
  window_errors integer not null default 0,
  restart_count integer not null default 0,
  error_message varchar(2000),
  -- on removal: what it has kept stays for another time
  keep_data boolean not null default false,
  installed_by uuid,
  installed_at timestamptz,
  last_active_at timestamptz,
  status_since timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (not enabled or status in ('installed', 'updating')),
  unique (org_id, catalog_id)
) with (fillfactor = 70);
create index plugin_installations_order on plugin_installations (org_id, slug, id);
create index plugin_installations_catalog on plugin_installations (catalog_id);
create index plugin_installations_unsettled on plugin_installations (status_since)
  where status in ('installing', 'updating', 'uninstalling');
call protect_tenant('plugin_installations');

-- What is still to be handed to plugins.
create table plugin_queue (
  id uuid primary key default gen_random_uuid(),
  installation_id uuid not null references plugin_installations (id) on delete cascade,
  org_id uuid not null,
  -- 'event:<id>', 'schedule:<name>:<minute>', 'once:<name>:<time>': the same work is there once
  key text not null,
  kind text not null check (kind in ('event', 'schedule', 'collector', 'once')),
  body json not null,
  -- how many plugins lie between this and what people or devices did
  depth integer not null default 0,
  attempts integer not null default 0,
  -- while leased: when the lease ends
  due_at timestamptz not null,
  lease uuid,
  leased_until timestamptz,
  created_at timestamptz not null default now(),
  unique (installation_id, key)
) with (fillfactor = 70);
create index plugin_queue_due on plugin_queue (installation_id, due_at);
create index plugin_queue_leased on plugin_queue (installation_id) where leased_until is not null;
call protect_tenant('plugin_queue');

create table plugin_schedules (
  installation_id uuid not null references plugin_installations (id) on delete cascade,
  org_id uuid not null,
  kind text not null check (kind in ('schedule', 'collector')),
  name text not null,
  cron text not null,
  next_run_at timestamptz not null,
  primary key (installation_id, kind, name)
);
create index plugin_schedules_due on plugin_schedules (next_run_at);
call protect_tenant('plugin_schedules');

-- By organization and plugin, not by installation: it may outlive one.
create table plugin_kv (
  org_id uuid not null references organizations (id),
  slug text not null,
  key varchar(256) collate "C" not null,
  value jsonb not null,
  version integer not null default 1,
  bytes integer not null,
  updated_at timestamptz not null default now(),
  primary key (org_id, slug, key)
);
call protect_tenant('plugin_kv');

create table plugin_logs (
  id uuid primary key default gen_random_uuid(),
  -- no foreign key: logs stay for 14 days when an installation goes
  installation_id uuid not null,
  org_id uuid not null,
  level text not null check (level in ('error', 'warn', 'info', 'debug')),
  message varchar(4000) not null,
  fields jsonb,
  hook text,
  invocation_id uuid,
  duration_ms integer,
  timestamp timestamptz not null default clock_timestamp()
);
create index plugin_logs_list on plugin_logs (installation_id, timestamp desc, id desc);
create index plugin_logs_age on plugin_logs using brin (timestamp);
call protect_tenant('plugin_logs');

-- One entry for each installation that listens to an event: part of the commit that made the event (slot events.outbox).
-- A plugin does not hear of what it did itself.
create function plugin_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into plugin_queue (installation_id, org_id, key, kind, body, depth, due_at)
  select i.id, e.org_id, 'event:' || e.id, 'event', e.body::json, e.depth, now()
  from jsonb_to_recordset(given) as e (id uuid, org_id uuid, kind text, actor_id text, depth integer, body text)
    join plugin_installations i on i.org_id = e.org_id
  where i.enabled and i.listens @> array[e.kind] and i.id::text is distinct from e.actor_id
  on conflict do nothing;
end $$;
revoke all on function plugin_fan_out(jsonb) from public;
grant execute on function plugin_fan_out(jsonb) to quartermaster_app, quartermaster_platform;
