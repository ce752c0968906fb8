-- The devices of a run as they were when it began: what happens to groups, tags and filters meanwhile does not change them.

create table target_sets (
  id uuid primary key default gen_random_uuid(),
  -- what runs, such as automations.run, and its id
  kind text not null,
  run_id uuid not null,
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  device_count integer not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  constraint target_sets_owner check (num_nonnulls(org_id, partner_id) = 1),
  constraint target_sets_once unique (kind, run_id)
);
create index target_sets_expiry on target_sets (expires_at);
create index target_sets_org on target_sets (org_id);
create index target_sets_partner on target_sets (partner_id);
call protect_tenant('target_sets', 'org_id', 'partner_id');

create table target_set_devices (
  set_id uuid not null references target_sets (id) on delete cascade,
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  site_id uuid not null,
  primary key (set_id, device_id)
);
create index target_set_devices_device on target_set_devices (device_id);
create index target_set_devices_org on target_set_devices (org_id);
call protect_tenant('target_set_devices');
