-- Every table in daily partitions has the coming days, whoever made it, also after the platform was down for weeks.

create function ensure_partitions_ahead(days_ahead integer) returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  made integer := 0;
  tab regclass;
begin
  -- Two processes that start at once would make the same table.
  perform pg_advisory_xact_lock(7203414);
  for tab in select c.oid::regclass from pg_class c
    where c.relkind = 'p' and not c.relispartition and c.relnamespace = 'public'::regnamespace order by c.relname loop
    made := made + ensure_daily_partitions(tab, days_ahead);
  end loop;
  return made;
end $$;
revoke all on function ensure_partitions_ahead(integer) from public;
grant execute on function ensure_partitions_ahead(integer) to quartermaster_platform;
