-- Notes on devices
create table notes (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  device_id uuid not null references devices (id) on delete cascade,
  text varchar(2000) not null,
  created_at timestamptz not null default now()
);
create index notes_newest on notes (device_id, created_at desc, id desc);
create index notes_expired on notes (created_at);
call protect_tenant('notes');
