-- Who a connection speaks for, and how a table is closed to everybody else.

-- Announced by openWork() for the length of one transaction. Nothing announced means nothing reached.
create function app_org_ids() returns uuid[] language sql stable parallel safe as
$$ select coalesce(nullif(current_setting('app.org_ids', true), ''), '{}')::uuid[] $$;

-- The partner whose own rows the caller may read and write (partner scope only).
create function app_partner_id() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('app.partner_id', true), '')::uuid $$;

-- The partner above the reached organizations: its shared rows may be read, never written, by organization callers.
create function app_owner_partner_id() returns uuid language sql stable parallel safe as
$$ select nullif(current_setting('app.owner_partner_id', true), '')::uuid $$;

-- Forced row-level security. The scalar subqueries are evaluated once a statement, not once a row, and `= any` keeps
-- the index on the organization usable. A table with a partner column holds rows owned by one of the two.
create procedure protect_tenant(target regclass, org_column text default 'org_id', partner_column text default null)
language plpgsql as $$
declare
  org_test text := format('%I = any ((select app_org_ids())::uuid[])', org_column);
  readable text := org_test;
  writable text := org_test;
begin
  if partner_column is not null then
    readable := format('%s or (%I is null and %I in ((select app_partner_id()), (select app_owner_partner_id())))',
      org_test, org_column, partner_column);
    writable := format('%s or (%I is null and %I = (select app_partner_id()))', org_test, org_column, partner_column);
  end if;
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy tenant_read on %s for select to quartermaster_app using (%s)', target, readable);
  execute format('create policy tenant_insert on %s for insert to quartermaster_app with check (%s)', target, writable);
  execute format('create policy tenant_update on %s for update to quartermaster_app using (%s) with check (%s)',
    target, writable, writable);
  execute format('create policy tenant_delete on %s for delete to quartermaster_app using (%s)', target, writable);
  execute format('create policy platform on %s to quartermaster_platform using (true) with check (true)', target);
  execute format('create policy owner on %s to current_user using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to quartermaster_app, quartermaster_platform', target);
end $$;

-- A table of the platform itself: unreachable for tenant work.
create procedure protect_platform(target regclass) language plpgsql as $$
begin
  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy platform on %s to quartermaster_platform using (true) with check (true)', target);
  execute format('create policy owner on %s to current_user using (true) with check (true)', target);
  execute format('grant select, insert, update, delete on %s to quartermaster_platform', target);
end $$;

-- Daily partitions named <table>_yYYYYmMMdDD, made ahead of time and dropped whole when they are old.
create function ensure_daily_partitions(target regclass, days_ahead integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made integer := 0;
  part text;
  part_day date;
begin
  for step in -1 .. days_ahead loop
    part_day := (now() at time zone 'utc')::date + step;
    part := format('%s_%s', target::text, to_char(part_day, '"y"YYYY"m"MM"d"DD'));
    if to_regclass(part) is null then
      execute format('create table if not exists %I partition of %s for values from (%L) to (%L)',
        part, target, part_day::timestamp at time zone 'utc', (part_day + 1)::timestamp at time zone 'utc');
      execute format('alter table %I enable row level security', part);
      made := made + 1;
    end if;
  end loop;
  return made;
end $$;

create function drop_daily_partitions(target regclass, keep_days integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  gone integer := 0;
  part regclass;
begin
  for part in select inhrelid::regclass from pg_inherits where inhparent = target loop
    if to_date(right(part::text, 11), '"y"YYYY"m"MM"d"DD') < (now() at time zone 'utc')::date - keep_days then
      execute format('drop table %s', part);
      gone := gone + 1;
    end if;
  end loop;
  return gone;
end $$;
revoke all on function ensure_daily_partitions(regclass, integer), drop_daily_partitions(regclass, integer) from public;
grant execute on function ensure_daily_partitions(regclass, integer), drop_daily_partitions(regclass, integer)
  to quartermaster_platform;
