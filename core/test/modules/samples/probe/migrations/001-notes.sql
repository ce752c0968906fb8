create table notes (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  text text not null unique
);
call protect_tenant('notes');
