/** The statement of the fan-out, which selects recipients and writes inbox rows, mails and pushes. */

/** Notices of one type in five minutes, beyond which a user gets one for all the rest. */
export const STORM = { most: 20, minutes: 5 };

// $1 event, $2 organization, $3 partner, $4 site, $5 device, $6 catalog pairs, $7 acting user, $8 type, $9 priority,
// $10 title, $11 message, $12 link, $13 metadata, $14 dedupe key, $15 the user before this batch, $16 size of it, $17 the
// partition of digests and of notices about the installation, $18 the only users who hear of it.
// An unread notice of the same key is counted up and not sent again. Rows of `notification_rates` are locked in the order
// of users, so that two fan-outs wait for each other and do not block each other. A digest has one row in the queue; when it is
// being sent at this moment, its lease is taken back, so that it is sent again with the new delivery.
// reach: platform role: notification_reach() finds the recipients by site and device
export const TELL = `
with recursive granting as (
  select rp.role_id as id from role_permissions rp join permissions p on p.id = rp.permission_id
  where p.resource || ':' || p.action = any ($6::text[])
  union select r.id from roles r join granting g on r.parent_role_id = g.id),
reaching as (
  select distinct x.user_id from notification_reach($2, $3, $4, $5) x
  where x.role_id in (select id from granting) and x.user_id > $15 and x.user_id is distinct from $7
    and ($18::uuid[] is null or x.user_id = any ($18))),
accepting as materialized (
  select u.id as user_id, coalesce(np.in_app, true) as in_app,
    coalesce(np.email, 'immediate') as email, coalesce(np.email_from, 'urgent') as email_from,
    coalesce(np.push, true) as push, coalesce(np.push_from, 'high') as push_from, np.quiet_hours,
    coalesce(np.digest, '{"every":"day","timezone":"UTC"}') as digest,
    notification_rank($9) >= notification_rank(coalesce(np.min_priority, 'low'))
      and (np.org_ids is null or $2::uuid is null or $2 = any (np.org_ids)) as wanted
  from reaching r join users u on u.id = r.user_id and u.status = 'active'
    left join notification_preferences np on np.user_id = u.id and np.type = $8
  order by u.id limit $16),
repeated as (
  update user_notifications n set count = n.count + 1, last_occurred_at = now(), title = $10, message = $11, link = $12,
    metadata = $13::jsonb, priority = $9
  from accepting a where a.wanted and n.user_id = a.user_id and n.dedupe_key = $14 and not n.read
  returning n.user_id),
fresh as (
  select a.* from accepting a where a.wanted and a.user_id not in (select user_id from repeated)),
counted as (
  insert into notification_rates as r (user_id, type, started_at, n)
  select user_id, $8, now(), 1 from fresh order by user_id
  on conflict (user_id, type) do update set
    n = case when r.started_at < now() - interval '${STORM.minutes} minutes' then 1 else r.n + 1 end,
    started_at = case when r.started_at < now() - interval '${STORM.minutes} minutes' then now() else r.started_at end
  returning user_id, n, started_at),
made as (
  insert into user_notifications as n (user_id, event_id, org_id, partner_id, site_id, device_id, type, priority, title,
    message, link, metadata, dedupe_key, in_app, read, read_at)
  select f.user_id, $1, s.org, s.partner, s.site, s.device, $8, s.priority, s.title, s.message, s.link, s.metadata, s.key,
    f.in_app, not f.in_app, case when not f.in_app then now() end
  from fresh f join counted c using (user_id) cross join lateral (
    select $2::uuid as org, $3::uuid as partner, $4::uuid as site, $5::uuid as device, $9 as priority, $10 as title,
      $11 as message, $12 as link, $13::jsonb as metadata, $14 as key
    where c.n <= ${STORM.most}
    union all
    select $2, $3, $4, $5, 'normal', '1 more notice (' || $8 || ')', 'There are too many to show each of them.', null,
      jsonb_build_object('storm', true), 'storm:' || $8 || ':' || extract(epoch from c.started_at)::bigint
    where c.n > ${STORM.most}) s
  order by f.user_id
  on conflict (user_id, dedupe_key) where not read do update set count = n.count + 1, last_occurred_at = now(),
    title = case when excluded.metadata ? 'storm' then (n.count + 1) || ' more notices (' || $8 || ')' else excluded.title end,
    message = excluded.message
  returning n.id, n.user_id, n.count, n.priority),
sent as (
  insert into notification_deliveries (user_id, event_id, notification_id, kind, digest, due_at)
  select f.user_id, $1, m.id, way.kind, way.digest, way.at
  from made m join fresh f using (user_id) cross join lateral (
    select case when m.priority = 'urgent' then now() else coalesce(notification_quiet_end(f.quiet_hours, now()), now()) end as at
  ) free cross join lateral (
    select 'email' as kind, f.email = 'digest' as digest,
      case when f.email = 'digest' then notification_digest_slot(f.digest, now()) else free.at end as at
    where f.email <> 'none' and notification_rank(m.priority) >= notification_rank(f.email_from)
    union all
    select 'push', false, free.at
    where f.push and notification_rank(m.priority) >= notification_rank(f.push_from)
      and exists (select from push_subscriptions ps where ps.user_id = f.user_id)) way
  where m.count = 1
  on conflict (user_id, event_id, kind) do nothing
  returning id, user_id, kind, digest, due_at),
queued as (
  insert into notification_queue as q (id, kind, tenant_id, org_id, user_id, digest_at, due_at)
  select id, kind, case when digest then $17 else coalesce($2, $3, $17) end, case when digest then null else $2 end, user_id,
    case when digest then due_at end, due_at
  from sent order by user_id
  on conflict (user_id, digest_at) where digest_at is not null
    do update set lease = null, leased_until = null, due_at = now() where q.lease is not null)
select (select count(*) from accepting)::integer as n,
  (select user_id from accepting order by user_id desc limit 1) as last,
  exists (select from sent where due_at <= now()) as due`;
