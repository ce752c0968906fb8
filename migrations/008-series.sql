-- Series: numbers over time by source and key, with roll-ups by five minutes, the hour and the day

-- What a number is about. A source that moves to another organization goes on as another series, so that rows stay where they were written.
create table series (
  id bigint generated always as identity primary key,
  org_id uuid not null references organizations (id),
  source_kind text not null check (source_kind ~ '^[a-z][a-z0-9-]{0,49}$'),
  source_id uuid not null,
  key text not null check (length(key) between 1 and 200),
  unit text check (length(unit) between 1 and 32),
  created_at timestamptz not null default now(),
  unique (source_kind, source_id, key, org_id)
);
create index series_org on series (org_id);
call protect_tenant('series');

-- No foreign keys: they would be checked for every point. Removing a source deletes its rows; old days are dropped as a whole.
create table series_points (
  series_id bigint not null,
  at timestamptz not null,
  org_id uuid not null,
  value double precision not null,
  primary key (series_id, at)
) partition by range (at);
-- A roll-up reads five minutes of all series; points come nearly in the order of time.
create index series_points_at on series_points using brin (at) with (pages_per_range = 32, autosummarize = on);
call protect_tenant('series_points');
select ensure_daily_partitions('series_points', 7);

create table series_5m (
  series_id bigint not null,
  at timestamptz not null,
  org_id uuid not null,
  samples integer not null,
  total double precision not null,
  low double precision not null,
  high double precision not null,
  primary key (series_id, at, org_id)
) partition by range (at);
create index series_5m_at on series_5m using brin (at) with (pages_per_range = 32, autosummarize = on);
call protect_tenant('series_5m');
select ensure_daily_partitions('series_5m', 7);

-- Read from the index alone: a roll-up writes all series of an hour together, so that rows of one series lie apart.
create table series_hours (
  series_id bigint not null,
  at timestamptz not null,
  org_id uuid not null,
  samples integer not null,
  total double precision not null,
  low double precision not null,
  high double precision not null,
  primary key (series_id, at, org_id) include (samples, total, low, high)
) partition by range (at);
call protect_tenant('series_hours');
select ensure_daily_partitions('series_hours', 7);

create table series_days (
  series_id bigint not null,
  at timestamptz not null,
  org_id uuid not null,
  samples integer not null,
  total double precision not null,
  low double precision not null,
  high double precision not null,
  primary key (series_id, at, org_id) include (samples, total, low, high)
);
create index series_days_age on series_days using brin (at);
call protect_tenant('series_days');

-- Up to when points have been rolled up: one row for the installation.
create table series_progress (
  only_row boolean primary key default true check (only_row),
  rolled_until timestamptz not null
);
call protect_platform('series_progress');

-- Hours of series for which points came late: a log without a key, so that writers never wait for the roll-up that empties it.
create table series_late (
  series_id bigint not null,
  hour timestamptz not null
);
call protect_platform('series_late');

-- A history takes from roll-ups what lies before this time, and the rest from points. The last five minutes that were rolled up are
-- made again by the next run, because points still come for them.
create function series_rolled_until() returns timestamptz
language sql stable security definer set search_path = public, pg_temp as
  $$ select coalesce((select rolled_until - interval '5 minutes' from series_progress), 'epoch'::timestamptz) $$;
comment on function series_rolled_until() is 'any tenant: it tells one time of the whole installation, and reads no row of a tenant';
revoke all on function series_rolled_until() from public;
grant execute on function series_rolled_until() to quartermaster_app, quartermaster_platform;
