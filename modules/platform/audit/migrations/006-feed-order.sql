-- Appending to the trail is no longer one at a time; the feed says itself how far all is there.

-- Whoever appends marks, before drawing a position, behind which one all of its own will lie. The mark is a shared lock: it
-- can be seen by others before the commit, ends with the transaction, and keeps nobody waiting.
create or replace function order_audit_positions() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(7203420,
    (select case when is_called then last_value else 0 end % 2147483648 from audit_logs_pos_seq)::integer);
  return null;
end $$;

-- The newest position up to which every entry can be read by a statement that begins after this one. The positions are read
-- before the marks: an entry that commits in between is below neither. Marks are positions without their upper bits, and
-- none is a billion away from the newest.
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
