create table lamps (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null,
  text text not null
);
call protect_tenant('lamps');
