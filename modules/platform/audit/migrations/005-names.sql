-- Finding entries by part of an actor's or resource's name, or of an action, in trails of millions of them.
--
-- What was ever named is kept once for each chain: a text is looked for among thousands of names and not in millions of
-- entries, and the entries are then found by the key of their names. Keys are columns, since under row-level security only
-- comparisons that are leakproof use an index, and an expression over a text is not.

create extension if not exists pg_trgm;

alter table audit_logs
  add column actor_key bigint not null generated always as
    (hashtextextended(coalesce(actor_email, '') || chr(10) || coalesce(actor_name, ''), 0)) stored,
  add column resource_key bigint not null generated always as
    (hashtextextended(resource_type || chr(10) || coalesce(resource_name, ''), 0)) stored,
  add column action_key bigint not null generated always as (hashtextextended(action, 0)) stored;
create index audit_logs_actor on audit_logs (org_id, actor_key, timestamp desc, id desc);
create index audit_logs_resource on audit_logs (org_id, resource_key, timestamp desc, id desc);
-- In place of the one by the action's text, which is larger.
create index audit_logs_action_key on audit_logs (org_id, action_key, timestamp desc, id desc);
drop index audit_logs_action;

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

insert into audit_names (owner, kind, key, org_id, partner_id, name)
select distinct on (l.owner, k.kind, k.key) l.owner, k.kind, k.key, l.org_id, case when l.org_id is null then l.partner_id end, k.name
from audit_logs l cross join lateral (values
  ('actor', l.actor_key, coalesce(l.actor_email, '') || chr(10) || coalesce(l.actor_name, '')),
  ('resource', l.resource_key, l.resource_type || chr(10) || coalesce(l.resource_name, '')),
  ('action', l.action_key, l.action)) k (kind, key, name)
order by 1, 2, 3;

-- With the entries, in their own transaction: no entry is without its names.
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

-- Whose names hold a text, of the organizations asked for and, when `own`, of what the partner itself did: never more than
-- what is announced, whatever is asked for. Nothing but organizations and keys comes out. Patterns are those of LIKE: % _ and
-- \ that a person typed are escaped before. The kind 'email' means actors by their address alone. Planned anew for each call: the pattern decides which index is good. Work that
-- reaches everything has nothing announced and asks the table itself.
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
