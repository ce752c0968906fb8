-- Exports of any size: made by a job, kept in the database so that every process can hand them out.

create table audit_exports (
  id uuid primary key default gen_random_uuid(),
  -- whose it is: an organization's, else a partner's, else the platform's
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  -- what the one who asked reached then; null means everything
  org_ids uuid[],
  requested_by uuid,
  requested_by_email varchar(255),
  format text not null check (format in ('csv', 'ndjson')),
  filter jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  -- how far the job has come: each step commits its entries, its chunks and where the next one begins
  step integer not null default 0,
  position jsonb,
  entries bigint not null default 0,
  total bigint,
  bytes bigint not null default 0,
  chunks integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  expires_at timestamptz not null default now() + interval '7 days'
);
create index audit_exports_org on audit_exports (org_id, created_at desc, id desc);
create index audit_exports_partner on audit_exports (partner_id, created_at desc, id desc) where org_id is null;
create index audit_exports_newest on audit_exports (created_at desc, id desc);
create index audit_exports_expiry on audit_exports (expires_at);
create index audit_exports_unfinished on audit_exports (updated_at) where status in ('pending', 'running');

alter table audit_exports enable row level security;
alter table audit_exports force row level security;
-- A partner's export is for those of its users who reach every organization in it.
create policy tenant_read on audit_exports for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[])
         or (org_id is null and partner_id = (select app_partner_id()) and org_ids <@ (select app_org_ids())));
create policy tenant_insert on audit_exports for insert to quartermaster_app
  with check (org_id = any ((select app_org_ids())::uuid[])
         or (org_id is null and partner_id = (select app_partner_id()) and org_ids <@ (select app_org_ids())));
create policy platform on audit_exports to quartermaster_platform using (true) with check (true);
create policy owner on audit_exports to current_user using (true) with check (true);
grant select, insert on audit_exports to quartermaster_app;
grant select, insert, update, delete on audit_exports to quartermaster_platform;

-- Whole gzip members or parts of one, at most 1 MiB each; put together they are the file.
create table audit_export_chunks (
  export_id uuid not null references audit_exports (id) on delete cascade,
  seq integer not null,
  data bytea not null check (length(data) <= 1048576),
  primary key (export_id, seq)
);
alter table audit_export_chunks alter column data set storage external;
call protect_platform('audit_export_chunks');
