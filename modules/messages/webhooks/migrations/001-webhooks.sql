-- Webhooks, their deliveries, and the queue of deliveries to be sent

create table webhooks (
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  name varchar(255) not null,
  url varchar(2048) not null,
  -- host and port, for the circuit breaker of core/delivery
  host text not null,
  -- kinds, families (`alert.*`) or `*`
  events text[] not null check (cardinality(events) between 1 and 100),
  -- [{key, value}], values sealed
  headers jsonb not null default '[]',
  -- [{id, sealed, createdAt, expiresAt}], newest first
  secrets jsonb not null,
  filters jsonb not null default '{}',
  api_version text not null,
  status text not null default 'active' check (status in ('active', 'paused', 'failed')),
  disabled_reason text,
  consecutive_failures integer not null default 0,
  -- number of failures since the last success at the time of the last notice to administrators
  noticed integer not null default 0,
  first_failure_at timestamptz,
  last_delivery_at timestamptz,
  last_success_at timestamptz,
  success_count bigint not null default 0,
  failure_count bigint not null default 0,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- the secrets are removed at this time; the row is kept as long as its deliveries
  deleted_at timestamptz,
  check (num_nonnulls(org_id, partner_id) = 1)
) with (fillfactor = 70);
create index webhooks_org on webhooks (org_id, lower(name), id) where deleted_at is null;
create index webhooks_partner on webhooks (partner_id, lower(name), id) where deleted_at is null;
create index webhooks_order on webhooks (lower(name), id) where deleted_at is null;
call protect_tenant('webhooks', 'org_id', 'partner_id');

create table webhook_deliveries (
  id uuid primary key default gen_random_uuid(),
  webhook_id uuid not null references webhooks (id),
  -- organization of the event; null only for tests of a partner's webhook
  org_id uuid,
  partner_id uuid,
  site_id uuid,
  device_id uuid,
  event_id uuid not null,
  event_type text not null,
  -- 'msg_' and the id of the message's first delivery
  message_id text not null,
  -- json instead of jsonb, because the text itself is signed and sent
  payload json not null,
  status text not null default 'pending' check (status in ('pending', 'retrying', 'delivered', 'failed')),
  attempts integer not null default 0,
  max_attempts integer not null default 10,
  next_retry_at timestamptz,
  response_status integer,
  response_body varchar(1000),
  response_time_ms integer,
  error_message text,
  error_code text,
  trigger text not null default 'event' check (trigger in ('event', 'test', 'manual_retry')),
  retry_of_id uuid,
  created_at timestamptz not null default now(),
  delivered_at timestamptz
) with (fillfactor = 80);
create unique index webhook_deliveries_event on webhook_deliveries (webhook_id, event_id) where trigger = 'event';
create index webhook_deliveries_list on webhook_deliveries (webhook_id, created_at desc, id desc);
create index webhook_deliveries_repeats on webhook_deliveries (message_id) where trigger = 'manual_retry';
create index webhook_deliveries_age on webhook_deliveries using brin (created_at);
call protect_tenant('webhook_deliveries', 'org_id', 'partner_id');

-- Deliveries to be sent (core/delivery), separate from their history, so that claims and results update few and narrow rows.
-- Deliveries of a webhook that is not active have due_at infinity.
create table webhook_queue (
  id uuid primary key references webhook_deliveries (id) on delete cascade,
  webhook_id uuid not null,
  org_id uuid,
  partner_id uuid,
  -- sent in any state of the webhook
  test boolean not null default false
);
call make_delivery_queue('webhook_queue', 'webhook_id');
call protect_tenant('webhook_queue', 'org_id', 'partner_id');

create table webhook_counts (
  webhook_id uuid not null references webhooks (id),
  hour timestamptz not null,
  org_id uuid,
  partner_id uuid,
  delivered integer not null default 0,
  failed integer not null default 0,
  primary key (webhook_id, hour)
) with (fillfactor = 70);
call protect_tenant('webhook_counts', 'org_id', 'partner_id');

-- Creates a delivery for each active webhook that listens to an event, in the commit that emits the event (slot events.outbox).
create function webhook_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  with event as (
    select * from jsonb_to_recordset(given)
      as e (id uuid, kind text, org_id uuid, site_id uuid, device_id uuid, severity text, matches text[], body text)),
  due as materialized (
    select gen_random_uuid() as delivery_id, w.id as webhook_id, e.*
    from event e
      join organizations o on o.id = e.org_id
      join webhooks w on w.org_id = o.id or w.partner_id = o.partner_id
    where w.status = 'active' and w.deleted_at is null and w.events && e.matches
      and (not w.filters ? 'siteIds' or w.filters -> 'siteIds' ? e.site_id::text)
      and (not w.filters ? 'severities' or e.severity is null or w.filters -> 'severities' ? e.severity)
      and (not w.filters ? 'groupIds' or exists (
        select from device_group_members m
        where m.device_id = e.device_id and not m.is_excluded and w.filters -> 'groupIds' ? m.group_id::text))),
  made as (
    insert into webhook_deliveries (id, webhook_id, org_id, site_id, device_id, event_id, event_type, message_id, payload)
    select delivery_id, webhook_id, org_id, site_id, device_id, id, kind, 'msg_' || delivery_id, body::json from due)
  insert into webhook_queue (id, webhook_id, org_id)
  select delivery_id, webhook_id, org_id from due;
end $$;
revoke all on function webhook_fan_out(jsonb) from public;
grant execute on function webhook_fan_out(jsonb) to quartermaster_app, quartermaster_platform;
