-- Metrics of devices: samples, and roll-ups by the hour and by the day

-- Samples. No foreign key, because it would be checked for every sample. A purge deletes the rows of a device; old days are dropped
-- as a whole.
create table device_metrics (
  device_id uuid not null,
  ts timestamptz not null,
  org_id uuid not null,
  cpu_percent real,
  ram_percent real,
  ram_used_mb bigint,
  disk_percent real,
  disk_used_gb real,
  network_in_bps double precision,
  network_out_bps double precision,
  disk_read_bps double precision,
  disk_write_bps double precision,
  process_count integer,
  primary key (device_id, ts)
) partition by range (ts);
call protect_tenant('device_metrics');
select ensure_daily_partitions('device_metrics', 7);

-- By the hour for 180 days and by the day for two years: averages, and the maximum where a peak matters. The organization is part
-- of the key: in the hour of a move each organization keeps its own row.
create table device_metrics_hourly (
  device_id uuid not null,
  ts timestamptz not null,
  org_id uuid not null,
  samples integer not null,
  cpu_percent real,
  cpu_percent_max real,
  ram_percent real,
  ram_percent_max real,
  ram_used_mb bigint,
  disk_percent real,
  disk_percent_max real,
  disk_used_gb real,
  network_in_bps double precision,
  network_out_bps double precision,
  disk_read_bps double precision,
  disk_write_bps double precision,
  process_count integer,
  primary key (device_id, ts, org_id)
) partition by range (ts);
call protect_tenant('device_metrics_hourly');
select ensure_daily_partitions('device_metrics_hourly', 7);
-- Roll-ups reach 14 days back, while ensure_daily_partitions begins with yesterday.
do $$
begin
  for step in 2 .. 16 loop
    execute format('create table if not exists %I partition of device_metrics_hourly for values from (%L) to (%L)',
      'device_metrics_hourly_' || to_char((now() at time zone 'utc')::date - step, '"y"YYYY"m"MM"d"DD'),
      ((now() at time zone 'utc')::date - step)::timestamp at time zone 'utc',
      ((now() at time zone 'utc')::date - step + 1)::timestamp at time zone 'utc');
    execute format('alter table %I enable row level security',
      'device_metrics_hourly_' || to_char((now() at time zone 'utc')::date - step, '"y"YYYY"m"MM"d"DD'));
  end loop;
end $$;

create table device_metrics_days (
  device_id uuid not null,
  ts timestamptz not null,
  org_id uuid not null,
  samples integer not null,
  cpu_percent real,
  cpu_percent_max real,
  ram_percent real,
  ram_percent_max real,
  ram_used_mb bigint,
  disk_percent real,
  disk_percent_max real,
  disk_used_gb real,
  network_in_bps double precision,
  network_out_bps double precision,
  disk_read_bps double precision,
  disk_write_bps double precision,
  process_count integer,
  primary key (device_id, ts, org_id)
);
create index device_metrics_days_age on device_metrics_days using brin (ts);
call protect_tenant('device_metrics_days');

-- Up to when samples have been rolled up: one row for the installation.
create table device_metrics_progress (
  only_row boolean primary key default true check (only_row),
  rolled_until timestamptz not null
);
call protect_platform('device_metrics_progress');
