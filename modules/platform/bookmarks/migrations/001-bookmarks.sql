-- Bookmarks on devices
create table bookmarks (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  device_id uuid not null references devices (id) on delete cascade,
  text varchar(2000) not null,
  created_at timestamptz not null default now()
);
create index bookmarks_newest on bookmarks (device_id, created_at desc, id desc);
create index bookmarks_expired on bookmarks (created_at);
call protect_tenant('bookmarks');
