-- Cancelling what is under way, work of people who have left, agents that say goodbye, and what agents sample.

alter table device_commands
  -- somebody wants it ended; it goes on until the agent says that it has stopped
  add column cancel_requested_at timestamptz,
  add column cancel_requested_by uuid;

-- Whoever ordered the work may do so no more: a person who was disabled or removed, a key that was revoked.
create function orderer_has_left(creator uuid, source text, source_id uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as $$
  select creator is not null and not exists (select from users where id = creator and status = 'active')
    or source = 'api_key' and exists (select from api_keys where id = source_id and status = 'revoked')
$$;
revoke all on function orderer_has_left(uuid, text, uuid) from public;
grant execute on function orderer_has_left(uuid, text, uuid) to quartermaster_app, quartermaster_platform;

-- When the agent said that it is being removed by hand.
alter table devices add column uninstall_intent_at timestamptz;
create index devices_uninstalling on devices (uninstall_intent_at) where uninstall_intent_at is not null;

-- What agents sample: the latest of each kind, by the source that it was looked up in where there are several.
create table device_reports (
  device_id uuid not null references devices (id) on delete cascade,
  org_id uuid not null,
  kind text not null check (kind in ('patches', 'security', 'sessions', 'connections', 'processes')),
  source varchar(50) not null default '',
  body jsonb not null,
  hash varchar(128) not null default '',
  taken_at timestamptz not null default now(),
  primary key (device_id, kind, source)
);
call protect_tenant('device_reports');
