-- What changed in the lists that can be followed (core/http/sync): one row for each change of what a list shows, where the row
-- lies and where it lay. A reader never passes a transaction that is still open: rows are read up to the oldest of those.

create table sync_changes (
  -- the list, such as devices; a row of it may be made of several tables
  kind text not null,
  id uuid not null,
  org_id uuid,
  partner_id uuid,
  owner uuid generated always as (coalesce(org_id, partner_id)) stored,
  -- who is limited to sites or groups hears that a row is gone only where it was told of that place
  site_id uuid,
  group_ids uuid[],
  xid xid8 not null default pg_current_xact_id(),
  at timestamptz not null default clock_timestamp(),
  check (num_nonnulls(org_id, partner_id) = 1)
);
create index sync_changes_order on sync_changes (kind, owner, xid, id);
create index sync_changes_age on sync_changes using brin (at);
call protect_tenant('sync_changes', 'org_id', 'partner_id');
-- Only the triggers write.
revoke insert, update, delete on sync_changes from quartermaster_app;

-- Before this transaction everything was over at that time: turns a time into a position, and says what is still kept.
create table sync_horizons (
  at timestamptz primary key default now(),
  xid xid8 not null default pg_snapshot_xmin(pg_current_snapshot())
);
call protect_platform('sync_horizons');
insert into sync_horizons default values;

-- Positions mean nothing in another cluster, on another timeline or in a copy beside this one.
create function sync_cluster() returns text
language sql stable security definer set search_path = public, pg_temp as $$
  select left(md5(concat_ws(' ', (select system_identifier from pg_control_system()),
    left(pg_walfile_name(pg_current_wal_lsn()), 8), (select oid from pg_database where datname = current_database()))), 12)
$$;

-- Where a reader of changes stands, in one round trip. `unreached` are the organizations that a caller who reaches all of them
-- (of a partner, or of all) does not reach any more: removed ones.
create function sync_state(since timestamptz, of_partner uuid, reached uuid[], all_orgs boolean)
returns table (cluster text, upto xid8, oldest xid8, since_xid xid8, unreached text)
language sql stable security definer set search_path = public, pg_temp as $$
  select sync_cluster(), pg_snapshot_xmin(pg_current_snapshot()), (select min(h.xid) from sync_horizons h),
    (select h.xid from sync_horizons h where h.at <= since order by h.at desc limit 1),
    case when all_orgs then (
      select md5(string_agg(o.id::text, ',' order by o.id)) from organizations o join partners p on p.id = o.partner_id
      where case when of_partner is null then o.deleted_at is not null or p.deleted_at is not null
        else o.partner_id = of_partner and not o.id = any(reached) end) end
$$;
revoke all on function sync_cluster(), sync_state(timestamptz, uuid, uuid[], boolean) from public;
grant execute on function sync_cluster(), sync_state(timestamptz, uuid, uuid[], boolean)
  to quartermaster_app, quartermaster_platform;

create function groups_of_device(device uuid) returns uuid[] language sql stable as $$
  select array(select m.group_id from device_group_members m where m.device_id = device and not m.is_excluded)
$$;

-- Notes changes of a table in the log of a list.
--   shown   the columns that the list shows, with those that decide whether and where it shows the row; null for all of them.
--           An update of others costs a comparison. Whatever every heartbeat writes is none of them.
--   id, org, partner, site, groups   expressions over the row
create procedure track_changes(target regclass, kind text, shown text default null, id text default 'id',
  org text default 'org_id', partner text default 'null', site text default 'null', groups text default 'null')
language plpgsql as $body$
declare
  name text := format('track_%s_in_%s', kind, target);
  place text := format('(%s)::uuid, (%s)::uuid, (%s)::uuid', org, partner, site);
  note text := format(
    'insert into sync_changes (kind, id, org_id, partner_id, site_id, group_ids) select %L, %s, %s, (%s)::uuid[] from (select',
    kind, id, place, groups);
  differs text;
begin
  execute format($make$
    create function %1$I() returns trigger language plpgsql security definer set search_path = public, pg_temp as $note$
    begin
      if tg_op <> 'INSERT' then
        if tg_op = 'DELETE' then
          %2$s old.*) was;
        elsif (select row(%3$s) from (select old.*) was) is distinct from (select row(%3$s) from (select new.*) is_now) then
          %2$s old.*) was;
        end if;
      end if;
      if tg_op <> 'DELETE' then
        %2$s new.*) is_now;
      end if;
      return null;
    end $note$$make$, name, note, place);
  execute format('revoke all on function %I() from public', name);
  execute format('create trigger %I after insert or delete on %s for each row execute function %I()',
    name, target, name);
  differs := case when shown is null then 'old.* is distinct from new.*' else (
    select format('(%s) is distinct from (%s)', string_agg('old.' || trim(c), ', '), string_agg('new.' || trim(c), ', '))
    from regexp_split_to_table(shown, ',') c) end;
  execute format('create trigger %I after update on %s for each row when (%s) execute function %I()',
    name || '_update', target, differs, name);
end $body$;

-- Events in an order in which nothing can appear behind the last one read (GET /events).
alter table events
  add column xid xid8 not null default pg_current_xact_id(),
  add column seq bigint not null generated always as identity;
create index events_order on events (xid, seq);
create index events_org_order on events (org_id, xid, seq);
