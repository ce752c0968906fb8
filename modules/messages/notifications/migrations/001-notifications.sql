-- Notifications of users: the inbox, preferences, and deliveries by mail and push

create table user_notifications (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  event_id uuid not null,
  -- tenant of the subject; with neither the notification is about the installation and visible to system callers only
  org_id uuid,
  partner_id uuid,
  site_id uuid,
  device_id uuid,
  type text not null check (type in ('alert', 'device', 'script', 'automation', 'system', 'user', 'security', 'ticket', 'report')),
  priority text not null default 'normal' check (priority in ('low', 'normal', 'high', 'urgent')),
  title varchar(255) not null,
  message varchar(2000) not null,
  link varchar(500) check (link ~ '^/(?![/\\])'),
  metadata jsonb not null default '{}',
  dedupe_key varchar(200),
  count integer not null default 1,
  read boolean not null default false,
  read_at timestamptz,
  -- false when the user wants mail or push only: counts as read and appears in no list
  in_app boolean not null default true,
  created_at timestamptz not null default now(),
  last_occurred_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '90 days',
  check (num_nonnulls(org_id, partner_id) <= 1)
) with (fillfactor = 80);
-- One unread notification for each subject.
create unique index user_notifications_open on user_notifications (user_id, dedupe_key) where not read;
create index user_notifications_list on user_notifications (user_id, last_occurred_at desc, id desc) where in_app;
create index user_notifications_unread on user_notifications (user_id, last_occurred_at desc, id desc) where not read and in_app;
create index user_notifications_expiry on user_notifications (expires_at);
create index user_notifications_read on user_notifications (read_at) where read;
-- Finds the notifications that an event resolves.
create index user_notifications_subject on user_notifications (dedupe_key, org_id) where dedupe_key is not null;
call protect_tenant('user_notifications', 'org_id', 'partner_id');

-- One row for each type of notification that a user has set preferences for. Belongs to the user, independent of tenants.
create table notification_preferences (
  user_id uuid not null references users (id) on delete cascade,
  type text not null,
  in_app boolean not null,
  email text not null check (email in ('none', 'immediate', 'digest')),
  email_from text not null check (email_from in ('low', 'normal', 'high', 'urgent')),
  push boolean not null,
  push_from text not null check (push_from in ('low', 'normal', 'high', 'urgent')),
  min_priority text not null check (min_priority in ('low', 'normal', 'high', 'urgent')),
  quiet_hours jsonb,
  digest jsonb not null,
  org_ids uuid[],
  updated_at timestamptz not null default now(),
  primary key (user_id, type)
);
call protect_platform('notification_preferences');

-- Each event that leads to notifications, once; done_at is set by the fan-out job that processed it.
create table notification_fanouts (
  event_id uuid primary key,
  created_at timestamptz not null default now(),
  done_at timestamptz
);
create index notification_fanouts_age on notification_fanouts (created_at);
call protect_platform('notification_fanouts');

-- Notifications of one type that a user received within five minutes: beyond twenty they are combined into one.
create table notification_rates (
  user_id uuid not null references users (id) on delete cascade,
  type text not null,
  started_at timestamptz not null,
  n integer not null,
  primary key (user_id, type)
) with (fillfactor = 70);
create index notification_rates_age on notification_rates (started_at);
call protect_platform('notification_rates');

create table notification_deliveries (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  event_id uuid not null,
  -- no foreign key: clearing the inbox does not wait for deliveries, and a deleted notification is not sent
  notification_id uuid not null,
  kind text not null check (kind in ('email', 'push')),
  -- sent together with all other deliveries of the same user and time
  digest boolean not null default false,
  status text not null default 'pending' check (status in ('pending', 'sent', 'failed', 'suppressed')),
  attempts integer not null default 0,
  -- for a digest: the time of the digest
  due_at timestamptz not null,
  -- subscriptions still to be reached; null for all
  targets uuid[],
  error varchar(500),
  provider_message_id varchar(255),
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  unique (user_id, event_id, kind)
) with (fillfactor = 70);
create index notification_deliveries_digest on notification_deliveries (user_id, due_at) where digest and status = 'pending';
create index notification_deliveries_notice on notification_deliveries (notification_id) where status = 'pending';
create index notification_deliveries_age on notification_deliveries (created_at);
call protect_platform('notification_deliveries');

-- Mails and push messages to be sent (core/delivery). A digest has one row, the first of its deliveries.
create table notification_queue (
  id uuid primary key references notification_deliveries (id) on delete cascade,
  kind text not null check (kind in ('email', 'push')),
  -- organization or partner of the notification; zeros for digests and for the installation
  tenant_id uuid not null,
  org_id uuid,
  user_id uuid not null,
  -- time of a digest; null for a single notification
  digest_at timestamptz
);
call make_delivery_queue('notification_queue', 'kind', 'tenant_id');
create unique index notification_queue_digest on notification_queue (user_id, digest_at) where digest_at is not null;
call protect_platform('notification_queue');

create table push_subscriptions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  -- a browser has one subscription, which belongs to the user who signed in there last
  endpoint_hash text not null unique,
  -- sealed {endpoint, p256dh, auth}: these values allow pushing to the browser
  sealed text not null,
  host text not null,
  user_agent varchar(255),
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index push_subscriptions_user on push_subscriptions (user_id, created_at desc, id desc);
call protect_platform('push_subscriptions');

-- The key pair that identifies this installation to push services, unless one is configured.
create table push_keys (
  id uuid primary key,
  public_key text not null,
  sealed text not null,
  created_at timestamptz not null default now(),
  single boolean not null default true unique check (single)
);
call protect_platform('push_keys');

-- Takes the events that lead to notifications, in the commit that emits them (slot events.outbox).
create function notification_take(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into notification_fanouts (event_id) select (e ->> 'eventId')::uuid from jsonb_array_elements(given) e
  on conflict do nothing;
end $$;
revoke all on function notification_take(jsonb) from public;
grant execute on function notification_take(jsonb) to quartermaster_app, quartermaster_platform;

create function notification_rank(priority text) returns integer language sql immutable parallel safe as
$$ select array_position(array['low', 'normal', 'high', 'urgent'], priority) $$;

-- The users who reach the subject of a notification, with the role that grants it. Subject is an organization as a whole: its
-- users who are not limited to sites or groups. Subject is a partner: its users with access to all organizations. System users
-- receive notifications about the installation, and about organizations listed in their preferences.
create function notification_reach(org uuid, partner uuid, site uuid, device uuid)
returns table (user_id uuid, role_id uuid) language sql stable as $$
  select m.user_id, m.role_id from organization_users m join organizations o on o.id = m.org_id
  where m.org_id = org and o.status in ('active', 'trial') and o.deleted_at is null
    and (coalesce(cardinality(m.site_ids), 0) = 0 or site = any (m.site_ids))
    and (coalesce(cardinality(m.device_group_ids), 0) = 0 or exists (
      select from device_group_members gm
      where gm.device_id = device and gm.group_id = any (m.device_group_ids) and not gm.is_excluded))
  union
  select m.user_id, m.role_id from partner_users m join partners p on p.id = m.partner_id
    left join organizations o on o.id = org
  where p.id = coalesce(o.partner_id, partner) and p.status = 'active' and p.deleted_at is null
    and (m.org_access = 'all' or (m.org_access = 'selected' and org = any (m.org_ids)))
    and (org is null or o.deleted_at is null)
  union
  select s.user_id, s.role_id from system_users s
  where (org is null and partner is null)
    or exists (select from notification_preferences np where np.user_id = s.user_id and org = any (np.org_ids))
$$;

-- The end of the quiet hours {start, end, timezone} that include the given time; null outside of them.
create function notification_quiet_end(quiet jsonb, at timestamptz) returns timestamptz language sql stable as $$
  select (case when starts <= ends then here::date + ends
               when here::time >= starts then here::date + 1 + ends
               else here::date + ends end) at time zone (quiet ->> 'timezone')
  from (select at at time zone (quiet ->> 'timezone') as here,
               (quiet ->> 'start')::time as starts, (quiet ->> 'end')::time as ends) x
  where quiet is not null and starts <> ends
    and case when starts < ends then here::time >= starts and here::time < ends
             else here::time >= starts or here::time < ends end
$$;

-- The next full hour, or the next 08:00 in the user's time zone.
create function notification_digest_slot(digest jsonb, at timestamptz) returns timestamptz language sql stable as $$
  select case when digest ->> 'every' = 'hour' then date_trunc('hour', at) + interval '1 hour'
    else ((here::date + case when here::time < '08:00' then 0 else 1 end) + time '08:00') at time zone (digest ->> 'timezone') end
  from (select at at time zone (digest ->> 'timezone') as here) x
$$;
revoke all on function notification_reach(uuid, uuid, uuid, uuid), notification_quiet_end(jsonb, timestamptz),
  notification_digest_slot(jsonb, timestamptz), notification_rank(text) from public;
grant execute on function notification_reach(uuid, uuid, uuid, uuid), notification_quiet_end(jsonb, timestamptz),
  notification_digest_slot(jsonb, timestamptz), notification_rank(text) to quartermaster_platform;
