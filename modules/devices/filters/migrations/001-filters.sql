-- Saved filters: named conditions for devices that belong to an organization

create table saved_filters (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  name varchar(200) not null check (name <> ''),
  description varchar(1000),
  -- a group { operator, conditions }, validated before it is written and whenever it is used
  conditions jsonb not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create index saved_filters_newest on saved_filters (org_id, created_at desc, id desc);
call protect_tenant('saved_filters');
