-- Plugins: the catalog, installations, the queue of work for plugins, their storage and their logs

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
  -- the newest version that is not yanked; null when all are yanked
  version text,
  source text not null default 'local' check (source in ('builtin', 'local', 'registry')),
  is_verified boolean not null default false,
  is_featured boolean not null default false,
  is_deprecated boolean not null default false,
  install_count integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index plugin_catalog_order on plugin_catalog ((- is_featured::integer), (- install_count), slug);

create table plugin_versions (
  id uuid primary key default gen_random_uuid(),
  catalog_id uuid not null references plugin_catalog (id),
  version text not null,
  manifest jsonb not null,
  package_sha256 text not null,
  -- 'keyId:base64' by a trusted key; null for a package accepted without a signature
  signature text,
  signed_by text,
  -- bytes of the package and of its unpacked content
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

-- The packages themselves, so that every node can load them.
create table plugin_packages (
  sha256 text primary key,
  content bytea not null
);
call protect_platform('plugin_packages');

-- An installation of a partner serves all organizations of the partner, each of them separately.
create table plugin_installations (
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  catalog_id uuid not null references plugin_catalog (id),
  slug text not null,
  version text not null,
  -- the user's consent applies to this package only
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
  -- permissions that a newer version needs beyond those granted
  pending_permissions text[] not null default '{}',
  pending_version text,
  sandbox_enabled boolean not null default true,
  resource_limits jsonb not null default '{}',
  health text not null default 'ok' check (health in ('ok', 'degraded', 'crashed', 'disabled_by_system')),
  -- kinds of events that the plugin receives, from its manifest and the granted permissions
  listens text[] not null default '{}',
  -- the last crashes of its processes, at most five
  crashes timestamptz[] not null default '{}',
  -- calls in the current window of ten minutes
  window_started_at timestamptz not null default now(),
  window_calls integer not null default 0,
  window_errors integer not null default 0,
  restart_count integer not null default 0,
  error_message varchar(2000),
  -- on removal: keep the plugin's stored data for a later installation
  keep_data boolean not null default false,
  installed_by uuid,
  installed_at timestamptz,
  last_active_at timestamptz,
  status_since timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  partner_id uuid references partners (id),
  check (not enabled or status in ('installed', 'updating')),
  constraint plugin_installations_owner check (num_nonnulls(org_id, partner_id) = 1),
  unique (org_id, catalog_id)
) with (fillfactor = 70);
create index plugin_installations_order on plugin_installations (org_id, slug, id);
create unique index plugin_installations_partner on plugin_installations (partner_id, catalog_id);
create index plugin_installations_partner_order on plugin_installations (partner_id, slug, id);
create index plugin_installations_catalog on plugin_installations (catalog_id);
create index plugin_installations_unsettled on plugin_installations (status_since)
  where status in ('installing', 'updating', 'uninstalling');
call protect_tenant('plugin_installations', 'org_id', 'partner_id');

-- Work to be handed to plugins (core/delivery), in one partition for each organization that an installation serves.
create table plugin_queue (
  id uuid primary key default gen_random_uuid(),
  installation_id uuid not null references plugin_installations (id) on delete cascade,
  org_id uuid not null,
  -- 'event:<id>', 'schedule:<name>:<minute>', 'once:<name>:<time>': the same work is queued once
  key text not null,
  kind text not null check (kind in ('event', 'schedule', 'collector', 'once')),
  body json not null,
  -- number of plugins between this work and the action of a person or device that caused it
  depth integer not null default 0,
  constraint plugin_queue_once unique (installation_id, org_id, key)
);
call make_delivery_queue('plugin_queue', 'installation_id', 'org_id');
call protect_tenant('plugin_queue');

create table plugin_schedules (
  installation_id uuid not null references plugin_installations (id) on delete cascade,
  org_id uuid,
  kind text not null check (kind in ('schedule', 'collector')),
  name text not null,
  cron text not null,
  next_run_at timestamptz not null,
  partner_id uuid,
  constraint plugin_schedules_owner check (num_nonnulls(org_id, partner_id) = 1),
  primary key (installation_id, kind, name)
);
create index plugin_schedules_due on plugin_schedules (next_run_at);
call protect_tenant('plugin_schedules', 'org_id', 'partner_id');

-- Keyed by organization and plugin, not by installation: the data can outlive an installation.
create table plugin_kv (
  org_id uuid not null references organizations (id),
  slug text not null,
  key varchar(256) collate "C" not null,
  value jsonb not null,
  version integer not null default 1,
  bytes integer not null,
  updated_at timestamptz not null default now(),
  -- Data that a partner's plugin stores in an organization is not readable by the organization's own installation.
  of_partner boolean not null default false,
  primary key (org_id, slug, of_partner, key)
);
call protect_tenant('plugin_kv');

create table plugin_logs (
  id uuid primary key default gen_random_uuid(),
  -- no foreign key: logs are kept for 14 days after an installation is removed
  installation_id uuid not null,
  -- null for a lifecycle step of a partner's installation, which belongs to the partner alone
  org_id uuid,
  level text not null check (level in ('error', 'warn', 'info', 'debug')),
  message varchar(4000) not null,
  fields jsonb,
  hook text,
  invocation_id uuid,
  duration_ms integer,
  timestamp timestamptz not null default clock_timestamp(),
  partner_id uuid,
  constraint plugin_logs_owner check (num_nonnulls(org_id, partner_id) = 1)
);
create index plugin_logs_list on plugin_logs (installation_id, timestamp desc, id desc);
create index plugin_logs_age on plugin_logs using brin (timestamp);
call protect_tenant('plugin_logs', 'org_id', 'partner_id');
-- Unlike shared objects, the logs of a partner are not readable by its organizations.
drop policy tenant_read on plugin_logs;
create policy tenant_read on plugin_logs for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[]) or (org_id is null and partner_id = (select app_partner_id())));

-- The installations that serve an organization: its own, and those of its partner for plugins that it has not installed itself.
create function plugins_serving(organization uuid) returns setof plugin_installations
language sql stable as $$
  select i.* from plugin_installations i where i.org_id = organization
  union all
  select i.* from organizations o join plugin_installations i on i.partner_id = o.partner_id
  where o.id = organization
    and not exists (select from plugin_installations own where own.org_id = o.id and own.catalog_id = i.catalog_id)
$$;

-- Queues an event for each installation that listens to it, in the commit that emits the event (slot events.outbox). A plugin
-- does not receive events that it caused itself.
create function plugin_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into plugin_queue (installation_id, org_id, key, kind, body, depth)
  select i.id, e.org_id, 'event:' || e.id, 'event', e.body::json, e.depth
  from jsonb_to_recordset(given) as e (id uuid, org_id uuid, kind text, actor_id text, depth integer, body text)
    cross join lateral plugins_serving(e.org_id) i
  where i.enabled and i.listens @> array[e.kind] and i.id::text is distinct from e.actor_id
  on conflict do nothing;
end $$;
revoke all on function plugin_fan_out(jsonb) from public;
grant execute on function plugin_fan_out(jsonb) to quartermaster_app, quartermaster_platform;

-- Disabling a plugin discards its waiting work, whatever code path disables it. A concurrent commit can still leave work behind,
-- which is discarded when the plugin is enabled again, except for what the plugin scheduled itself (kind once), as onInstall and
-- onEnable may do.
create function plugin_forget() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from plugin_queue where installation_id = new.id and (kind <> 'once' or old.enabled);
  return null;
end $$;
revoke all on function plugin_forget() from public;
create trigger plugin_installations_forget after update of enabled on plugin_installations for each row
  when (old.enabled <> new.enabled) execute function plugin_forget();
