-- What comes round again and again: one row for each schedule and zone.

create table schedules (
  id uuid primary key default gen_random_uuid(),
  kind text not null,
  owner_id uuid not null,
  name text not null default '',
  zone text not null,
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  recurrence jsonb not null,
  catch_up text not null check (catch_up in ('none', 'once')),
  jitter_seconds integer not null default 0 check (jitter_seconds between 0 and 3600),
  starts_at timestamptz,
  ends_at timestamptz,
  -- the next occurrence, and the moment at which it is handed out; null: there is none any more
  slot timestamptz,
  run_at timestamptz,
  -- the occurrence that was handed out last
  last_slot timestamptz,
  created_at timestamptz not null default now(),
  constraint schedules_owner check (num_nonnulls(org_id, partner_id) = 1),
  constraint schedules_once unique (kind, owner_id, name, zone)
);
create index schedules_due on schedules (kind, run_at) where run_at is not null;
create index schedules_org on schedules (org_id);
create index schedules_partner on schedules (partner_id);
call protect_tenant('schedules', 'org_id', 'partner_id');
