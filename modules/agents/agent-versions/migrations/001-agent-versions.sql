-- Agent versions: what can be installed, what was offered to which device, and halted rollouts

-- The catalogue belongs to the platform and is readable by all roles, because agents are downloaded without authentication.
create table agent_versions (
  id uuid primary key default gen_random_uuid(),
  version varchar(20) not null check (version ~ '^(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})\.(0|[1-9]\d{0,4})(-rc\.(0|[1-9]\d{0,3}))?$'),
  -- compares as versions do: see sortKey() in models/agent-version.ts
  sort_key varchar(40) collate "C" not null,
  component text not null check (component in ('agent', 'helper', 'watchdog', 'viewer')),
  platform text not null check (platform in ('windows', 'macos', 'linux')),
  architecture text not null check (architecture in ('amd64', 'arm64')),
  source text not null check (source in ('github', 'local')),
  -- absolute for github; local files are found by their coordinates
  download_url text,
  checksum char(64) not null check (checksum ~ '^[0-9a-f]{64}$'),
  file_size bigint not null check (file_size > 0),
  manifest text not null,
  manifest_signature text not null,
  signing_key_id varchar(64) not null,
  release_notes text,
  prerelease boolean not null generated always as (version like '%-%') stored,
  state text not null default 'registered' check (state in ('registered', 'promoted', 'withdrawn')),
  is_latest boolean not null default false check (not is_latest or state = 'promoted'),
  created_at timestamptz not null default now(),
  promoted_at timestamptz,
  promoted_by uuid,
  withdrawn_at timestamptz,
  unique (version, component, platform, architecture),
  check ((source = 'github') = (download_url is not null)),
  check (state <> 'promoted' or promoted_at is not null)
);
create unique index agent_versions_latest on agent_versions (component, platform, architecture) where is_latest;
create index agent_versions_order on agent_versions (sort_key desc, id desc);
alter table agent_versions enable row level security;
alter table agent_versions force row level security;
create policy everybody on agent_versions for select using (true);
create policy platform on agent_versions to quartermaster_platform using (true) with check (true);
create policy owner on agent_versions to current_user using (true) with check (true);
grant select on agent_versions to quartermaster_app;
grant select, insert, update on agent_versions to quartermaster_platform;

-- The last response of the release host for a URL, for conditional requests.
create table agent_release_answers (
  url text primary key,
  etag text not null,
  body jsonb not null,
  asked_at timestamptz not null default now()
);
call protect_platform('agent_release_answers');

create table agent_update_attempts (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  device_id uuid not null references devices (id) on delete cascade,
  component text not null check (component in ('agent', 'helper', 'watchdog')),
  from_version varchar(50) not null,
  to_version varchar(20) not null,
  -- number of the attempt for this device, component and version
  attempt integer not null,
  state text not null default 'offered' check (state in ('offered', 'downloading', 'verifying', 'installing', 'restarting',
    'succeeded', 'rolled_back', 'failed')),
  reason varchar(200),
  -- an operator allowed another attempt: this one no longer counts
  forgiven boolean not null default false,
  started_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  finished_at timestamptz,
  check ((state in ('succeeded', 'rolled_back', 'failed')) = (finished_at is not null)),
  check (state <> 'failed' or reason is not null)
);
-- One program of a device at a time, so that the other one can repair it.
create unique index agent_update_attempts_open on agent_update_attempts (device_id) where finished_at is null;
create index agent_update_attempts_device on agent_update_attempts (device_id, component, to_version, finished_at);
create index agent_update_attempts_due on agent_update_attempts (updated_at) where finished_at is null;
create index agent_update_attempts_org on agent_update_attempts (org_id, started_at);
create index agent_update_attempts_recent on agent_update_attempts (started_at);
call protect_tenant('agent_update_attempts');

-- A version that is no longer offered to an organization, or to all organizations of a partner, until the rollout is resumed.
create table agent_rollout_halts (
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  component text not null,
  version varchar(20) not null,
  attempts integer not null,
  failures integer not null,
  halted_at timestamptz not null default now(),
  resumed_at timestamptz,
  resumed_by uuid,
  check (num_nonnulls(org_id, partner_id) = 1)
);
create unique index agent_rollout_halts_open on agent_rollout_halts (coalesce(org_id, partner_id), component, version)
  where resumed_at is null;
call protect_tenant('agent_rollout_halts', partner_column => 'partner_id');
