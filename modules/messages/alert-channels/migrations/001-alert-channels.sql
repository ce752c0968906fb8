-- Channels that alerts are sent to, and the messages sent there

create table alert_channels (
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  name varchar(100) not null,
  type text not null,
  enabled boolean not null default true,
  -- as the API returns it: secrets masked
  config jsonb not null,
  -- sealed, by key of the configuration
  secrets jsonb not null default '{}',
  min_severity text not null default 'low' check (min_severity in ('info', 'low', 'medium', 'high', 'critical')),
  throttle_max integer not null default 30 check (throttle_max between 1 and 1000),
  throttle_window_seconds integer not null default 3600 check (throttle_window_seconds between 60 and 86400),
  quiet_hours jsonb,
  health text not null default 'ok' check (health in ('ok', 'failing', 'disabled_by_system')),
  last_delivery_at timestamptz,
  last_error varchar(500),
  -- consecutive messages that failed permanently
  consecutive_failures integer not null default 0,
  -- messages of the current throttling window
  window_started_at timestamptz,
  window_count integer not null default 0,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(org_id, partner_id) = 1)
) with (fillfactor = 70);
create index alert_channels_org on alert_channels (org_id, lower(name), id);
create index alert_channels_partner on alert_channels (partner_id, lower(name), id);
create index alert_channels_order on alert_channels (lower(name), id);
call protect_tenant('alert_channels', 'org_id', 'partner_id');

-- One row for each message to a channel, whatever the number of attempts.
create table alert_notifications (
  id uuid primary key default gen_random_uuid(),
  -- of the alert; null for digests of a partner's channel
  org_id uuid,
  partner_id uuid,
  channel_id uuid not null references alert_channels (id) on delete cascade,
  -- for a digest: the id of the channel
  alert_id uuid not null,
  kind text not null check (kind in ('trigger', 'acknowledged', 'severity', 'reminder', 'escalation', 'resolved', 'digest')),
  step integer not null default 0,
  -- numbers the repeats of one kind and step; for a digest the window, in seconds since 1970
  sequence bigint not null default 0,
  severity text not null check (severity in ('info', 'low', 'medium', 'high', 'critical')),
  message jsonb not null,
  status text not null default 'pending' check (status in ('pending', 'sent', 'failed', 'throttled', 'cancelled')),
  attempts integer not null default 0,
  -- for a throttled message: the digest sent in its place
  digest_id uuid,
  -- recipients that already received the message
  reached text[] not null default '{}',
  provider_message_id varchar(255),
  error varchar(500),
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  unique (alert_id, channel_id, kind, step, sequence)
) with (fillfactor = 70);
create index alert_notifications_channel on alert_notifications (channel_id, created_at);
create index alert_notifications_digest on alert_notifications (digest_id, created_at) where digest_id is not null;
create index alert_notifications_age on alert_notifications (created_at);
call protect_tenant('alert_notifications', 'org_id', 'partner_id');

-- Messages to be sent (core/delivery).
create table alert_channel_queue (
  id uuid primary key references alert_notifications (id) on delete cascade,
  channel_id uuid not null,
  org_id uuid,
  partner_id uuid,
  -- counted in the throttling window of its channel
  counted boolean not null default false
);
call make_delivery_queue('alert_channel_queue', 'channel_id');
call protect_tenant('alert_channel_queue', 'org_id', 'partner_id');
