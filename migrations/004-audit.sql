-- The audit trail: an outbox filled by the request's own transaction, and one hash chain per owner (spec/3-operations)

create table audit_outbox (
  id bigint generated always as identity primary key,
  org_id uuid,
  partner_id uuid,
  entry jsonb not null
);
call protect_platform('audit_outbox');

create table audit_logs (
  id uuid primary key,
  -- 'org:<uuid>', 'partner:<uuid>' or 'platform': whose chain the row belongs to
  owner text not null,
  seq bigint not null,
  org_id uuid,
  partner_id uuid,
  timestamp timestamptz not null default now(),
  actor_type text not null check (actor_type in ('user', 'api_key', 'agent', 'system')),
  actor_id uuid not null,
  actor_email varchar(255),
  actor_name varchar(255),
  action varchar(100) not null,
  resource_type varchar(50) not null,
  resource_id uuid not null,
  resource_name varchar(255),
  details jsonb not null default '{}',
  ip_address varchar(45),
  user_agent text,
  result text not null check (result in ('success', 'failure', 'denied')),
  error_message text,
  checksum varchar(128) not null,
  prev_checksum varchar(128),
  unique (owner, seq)
);
create index audit_logs_org on audit_logs (org_id, timestamp desc, id desc);
create index audit_logs_partner on audit_logs (partner_id, timestamp desc, id desc) where org_id is null;

create table audit_heads (
  owner text primary key,
  seq bigint not null,
  checksum varchar(128) not null
);
call protect_platform('audit_heads');

alter table audit_logs enable row level security;
alter table audit_logs force row level security;
create policy tenant_read on audit_logs for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[])
         or (org_id is null and partner_id = (select app_partner_id())));
create policy platform_read on audit_logs for select to quartermaster_platform using (true);
create policy platform_append on audit_logs for insert to quartermaster_platform with check (true);
create policy owner on audit_logs to current_user using (true) with check (true);
create policy audit_admin on audit_logs to quartermaster_audit_admin using (true) with check (true);
grant select on audit_logs to quartermaster_app;
grant select, insert on audit_logs to quartermaster_platform;
grant select, update, delete on audit_logs to quartermaster_audit_admin;

-- Refuses every change but retention: the dedicated role, with the session setting that names what it is doing.
create function refuse_audit_change() returns trigger language plpgsql as $$
begin
  if current_user = 'quartermaster_audit_admin' and current_setting('app.audit_retention', true) = 'on'
     and tg_op <> 'TRUNCATE' then
    return coalesce(new, old);
  end if;
  raise exception 'audit_logs is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end $$;
create trigger audit_logs_append_only before update or delete on audit_logs
  for each row execute function refuse_audit_change();
create trigger audit_logs_no_truncate before truncate on audit_logs
  for each statement execute function refuse_audit_change();
-- Fires also where a session plays replication to get around triggers.
alter table audit_logs enable always trigger audit_logs_append_only;
alter table audit_logs enable always trigger audit_logs_no_truncate;
