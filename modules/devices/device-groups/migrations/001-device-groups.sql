-- Groups of devices, their history, and the queue of devices to look at again (domain/device-groups)

create table device_groups (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  site_id uuid,
  name varchar(255) not null check (name <> ''),
  description varchar(1000),
  type text not null check (type in ('static', 'dynamic')),
  parent_id uuid,
  -- a condition tree as it was given; checked before it is written and whenever it is used
  filter jsonb,
  filter_id uuid,
  filter_fields text[] not null default '{}',
  evaluation_mode text check (evaluation_mode in ('event', 'periodic', 'mixed')),
  evaluation_status text not null default 'ready' check (evaluation_status in ('ready', 'evaluating', 'error')),
  last_evaluated_at timestamptz,
  last_evaluation_error varchar(500),
  -- failures since the last evaluation that succeeded
  evaluation_failures integer not null default 0,
  -- since when a removal of most members has been held back
  held_since timestamptz,
  device_count integer not null default 0,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (id, org_id),
  foreign key (site_id, org_id) references sites (id, org_id),
  foreign key (parent_id, org_id) references device_groups (id, org_id),
  check ((type = 'dynamic') = (filter is not null)),
  check ((type = 'dynamic') = (evaluation_mode is not null)),
  check (parent_id <> id)
);
create unique index device_groups_name
  on device_groups (org_id, coalesce(parent_id, '00000000-0000-0000-0000-000000000000'), lower(name));
create index device_groups_list on device_groups (org_id, lower(name), id);
create index device_groups_type on device_groups (org_id, type);
create index device_groups_parent on device_groups (parent_id, org_id) where parent_id is not null;
create index device_groups_site on device_groups (site_id, org_id) where site_id is not null;
call protect_tenant('device_groups');

-- A group never spans organizations, and neither does a membership: both keys carry the organization.
alter table devices add constraint devices_id_org unique (id, org_id);
alter table device_group_members
  add constraint device_group_members_of_group foreign key (group_id, org_id)
    references device_groups (id, org_id) on delete cascade,
  add constraint device_group_members_of_device foreign key (device_id, org_id)
    references devices (id, org_id) on delete cascade;

-- Without foreign keys: it outlives groups and devices, and keeps their names.
create table device_group_membership_log (
  id uuid not null default gen_random_uuid(),
  group_id uuid not null,
  device_id uuid not null,
  org_id uuid not null,
  group_name varchar(255) not null,
  hostname varchar(255) not null,
  action text not null check (action in ('added', 'removed')),
  reason text not null check (reason in ('manual', 'filter_match', 'filter_unmatch', 'pinned', 'unpinned', 'excluded',
    'group_created', 'group_deleted', 'device_moved', 'device_removed', 'enrollment')),
  actor_type text not null check (actor_type in ('user', 'api_key', 'agent', 'system')),
  actor_id uuid,
  -- the rows that one evaluation wrote
  evaluation_id uuid,
  created_at timestamptz not null default now()
) partition by range (created_at);
create index device_group_membership_log_group on device_group_membership_log (group_id, created_at desc, id desc);
call protect_tenant('device_group_membership_log');
revoke update, delete on device_group_membership_log from quartermaster_app, quartermaster_platform;
select ensure_daily_partitions('device_group_membership_log', 7);

-- Devices of which something changed that a group of their organization asks for. Only added to: rows that are merged
-- would make writers, heartbeats among them, wait for each other and for the evaluation.
create table device_group_dirty (
  id bigint generated always as identity primary key,
  org_id uuid not null,
  device_id uuid not null,
  fields text[] not null,
  at timestamptz not null default now()
);
create index device_group_dirty_org on device_group_dirty (org_id, id);
create index device_group_dirty_device on device_group_dirty (device_id);
call protect_tenant('device_group_dirty');
