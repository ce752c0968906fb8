-- The audit trail as people read it: lists, search by name, live feed and exports. Core owns audit_logs; this module adds the
-- columns and indexes that its queries need.

create extension if not exists pg_trgm;

alter table audit_logs
  -- position in the live feed: a reader that has seen one needs only what follows
  add column pos bigint generated always as identity,
  add column actor_key bigint not null generated always as
    (hashtextextended(coalesce(actor_email, '') || chr(10) || coalesce(actor_name, ''), 0)) stored,
  add column resource_key bigint not null generated always as
    (hashtextextended(resource_type || chr(10) || coalesce(resource_name, ''), 0)) stored,
  add column action_key bigint not null generated always as (hashtextextended(action, 0)) stored;
create unique index audit_logs_pos on audit_logs (pos);
-- Partner and system callers read many organizations at once, newest first; core's own index serves one organization.
create index audit_logs_newest on audit_logs (timestamp desc, id desc);
create index audit_logs_actor on audit_logs (org_id, actor_key, timestamp desc, id desc);
create index audit_logs_resource on audit_logs (org_id, resource_key, timestamp desc, id desc);
-- Rare actions in a long trail: serves the filter by action and the reports, newest first.
create index audit_logs_action_key on audit_logs (org_id, action_key, timestamp desc, id desc);

-- Live feed. Before drawing a position, an appending transaction marks the position that all of its own follow, so that a
-- reader does not skip an entry that commits late. The mark is a shared lock: others can see it before the commit, it ends with
-- the transaction, and it never blocks.
create function order_audit_positions() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(7203420,
    (select case when is_called then last_value else 0 end % 2147483648 from audit_logs_pos_seq)::integer);
  return null;
end $$;
create trigger audit_logs_positions before insert on audit_logs
  for each statement execute function order_audit_positions();

-- The newest position up to which every entry is visible to a statement that begins after this one. The positions are read
-- before the marks: an entry that commits in between is below neither. Marks are positions without their upper bits, and no mark
-- is a billion behind the newest position.
create function audit_feed_head() returns bigint
language plpgsql volatile security definer set search_path = public, pg_temp as $$
declare
  newest constant bigint := (select coalesce(max(pos), 0) from audit_logs);
  behind bigint;
begin
  select max((newest - l.objid::bigint) % 2147483648) into behind from pg_locks l
  where l.locktype = 'advisory' and l.classid = 7203420 and l.objsubid = 2
    and l.database = (select oid from pg_database where datname = current_database())
    and (newest - l.objid::bigint) % 2147483648 between 0 and 1000000000;
  return newest - coalesce(behind, 0);
end $$;
revoke all on function audit_feed_head() from public;
grant execute on function audit_feed_head() to quartermaster_platform;

-- The open live feeds of all processes; a row that is not renewed belongs to a process that died.
create table audit_streams (
  id uuid primary key,
  tenant text not null,
  seen_at timestamptz not null default now()
);
create index audit_streams_tenant on audit_streams (tenant);
call protect_platform('audit_streams');

-- Names. Entries are found by part of an actor's or resource's name, or of an action, in trails of millions of entries. Each name
-- is kept once for each chain: a text is matched against thousands of names instead of millions of entries, and the entries are
-- then found by the key of the name. Keys are columns, because under row-level security only leakproof comparisons use an
-- index, and an expression over a text is not leakproof.

create table audit_names (
  owner text not null,
  kind text not null check (kind in ('actor', 'action', 'resource')),
  key bigint not null,
  org_id uuid,
  partner_id uuid,
  name text not null,
  primary key (owner, kind, key)
);
call protect_platform('audit_names');
create index audit_names_found on audit_names using gin (lower(name) gin_trgm_ops) with (fastupdate = off);

-- Runs in the transaction that appends the entries, so that no entry lacks its names.
create function note_audit_names() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into audit_names (owner, kind, key, org_id, partner_id, name)
  select * from (
    select owner, 'actor', actor_key, org_id, case when org_id is null then partner_id end,
      coalesce(actor_email, '') || chr(10) || coalesce(actor_name, '') from added
    union select owner, 'resource', resource_key, org_id, case when org_id is null then partner_id end,
      resource_type || chr(10) || coalesce(resource_name, '') from added
    union select owner, 'action', action_key, org_id, case when org_id is null then partner_id end, action from added) n
  order by 1, 2, 3
  on conflict do nothing;
  return null;
end $$;
create trigger audit_logs_names after insert on audit_logs referencing new table as added
  for each statement execute function note_audit_names();

-- The organizations and keys whose names match a pattern, of the organizations given and, when `own`, of the partner itself:
-- never more than the transaction has announced. Patterns are those of LIKE; the caller escapes % _ and \ in user input. The
-- kind 'email' matches actors by their address only. Planned anew for each call, because the pattern decides which index is
-- good. A unit of work of the platform announces nothing and reads the table itself.
create function audit_names_like(of_kind text, pattern text, orgs uuid[], own boolean, most integer)
returns table (org_id uuid, key bigint)
language plpgsql stable security definer parallel restricted rows 100
set search_path = public, pg_temp set plan_cache_mode = force_custom_plan as $$
declare
  partner constant uuid := case when own then app_partner_id() end;
  owners constant text[] := array(
    select 'org:' || o from unnest(orgs) o where o = any(app_org_ids()))
    || case when partner is not null then 'partner:' || partner end;
begin
  return query select n.org_id, n.key from audit_names n
    where n.owner = any(owners) and n.kind = case of_kind when 'email' then 'actor' else of_kind end
      and lower(n.name) like lower(pattern)
      and (of_kind <> 'email' or lower(split_part(n.name, chr(10), 1)) like lower(pattern))
    limit most;
end $$;
revoke all on function note_audit_names(), audit_names_like(text, text, uuid[], boolean, integer) from public;
grant execute on function audit_names_like(text, text, uuid[], boolean, integer) to quartermaster_app, quartermaster_platform;

-- Exports of any size: created by a job, and stored in the database so that every process can serve them.
create table audit_exports (
  id uuid primary key default gen_random_uuid(),
  -- owner: an organization, else a partner, else the platform
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  -- the organizations that the requesting caller reached; null means all
  org_ids uuid[],
  requested_by uuid,
  requested_by_email varchar(255),
  format text not null check (format in ('csv', 'ndjson')),
  filter jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'running', 'completed', 'failed')),
  -- progress of the job: each step commits its entries, its chunks and the start of the next step
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
-- An export of a partner is readable by those of its users who reach every organization in it.
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

-- Gzip members or parts of one, at most 1 MiB each; concatenated they are the file.
create table audit_export_chunks (
  export_id uuid not null references audit_exports (id) on delete cascade,
  seq integer not null,
  data bytea not null check (length(data) <= 1048576),
  primary key (export_id, seq)
);
alter table audit_export_chunks alter column data set storage external;
call protect_platform('audit_export_chunks');
