-- Which devices belong to which groups. Here and not with the groups themselves, because people may be limited to groups:
-- every query about devices asks this table (core/database/visible-devices.ts). The module that keeps groups adds the
-- foreign keys and is the only one that writes here; without it nobody is in any group.

create table device_group_members (
  group_id uuid not null,
  device_id uuid not null,
  org_id uuid not null,
  added_at timestamptz not null default now(),
  added_by text not null check (added_by in ('manual', 'dynamic_rule', 'policy', 'enrollment')),
  added_by_user_id uuid,
  -- stays in although the rule does not match
  is_pinned boolean not null default false,
  -- stays out although the rule matches: such a row is the opposite of a membership
  is_excluded boolean not null default false,
  pinned_by uuid,
  pinned_at timestamptz,
  pin_reason varchar(255),
  -- since when the rule has not matched any more, while that is waited out
  unmatch_since timestamptz,
  primary key (group_id, device_id),
  check (not (is_pinned and is_excluded))
);
-- Answers for a device without its table: this is asked of every device that a limited caller lists.
create index device_group_members_device on device_group_members (device_id) include (group_id, is_excluded, org_id);
create index device_group_members_pinned on device_group_members (group_id) where is_pinned;
call protect_tenant('device_group_members');
