-- The live feed: a position for each entry, so that whoever has seen one needs only what lies behind it.

alter table audit_logs add column pos bigint generated always as identity;
create unique index audit_logs_pos on audit_logs (pos);

-- Positions must become visible in their order, or a reader would pass over an entry that commits late: whoever appends
-- holds this lock from before the first position is drawn until the commit.
create function order_audit_positions() returns trigger language plpgsql as $$
begin
  perform pg_advisory_xact_lock(7203420);
  return null;
end $$;
create trigger audit_logs_positions before insert on audit_logs
  for each statement execute function order_audit_positions();

-- Who follows the feed now, in any process; a row that nobody renews belongs to a process that died.
create table audit_streams (
  id uuid primary key,
  tenant text not null,
  seen_at timestamptz not null default now()
);
create index audit_streams_tenant on audit_streams (tenant);
call protect_platform('audit_streams');
