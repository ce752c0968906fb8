-- Tokens that bring new agents into an organization (spec/1-identity, Enrollment key). The key itself is never stored.

create table enrollment_keys (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  site_id uuid,
  name varchar(255) not null,
  key_hash text not null unique,
  usage_count integer not null default 0 check (usage_count >= 0),
  max_usage integer check (max_usage between 1 and 100000),
  expires_at timestamptz not null,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  -- A key cannot pin agents to a site of another organization.
  foreign key (site_id, org_id) references sites (id, org_id)
);
create index enrollment_keys_org on enrollment_keys (org_id, created_at desc, id desc);
create index enrollment_keys_site on enrollment_keys (site_id) where site_id is not null;
call protect_tenant('enrollment_keys');
