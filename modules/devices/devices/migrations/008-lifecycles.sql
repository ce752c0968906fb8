-- Provisioning, purge on demand, merging, and history that stays with the organization that it was written in.

alter table devices
  -- nothing but the purge may follow
  add column purge_requested_at timestamptz,
  add column merged_into_device_id uuid references devices (id) on delete set null;
create index devices_merged on devices (merged_into_device_id) where merged_into_device_id is not null;
create index devices_waiting on devices (created_at) where lifecycle = 'pending';
create index devices_maintained on devices (maintenance_until) where maintenance_until is not null;

-- Lets one machine fill the row that waits for it. Only the hash of the token is kept.
create table device_provisions (
  device_id uuid primary key references devices (id) on delete cascade,
  org_id uuid not null,
  token_hash text not null unique,
  expires_at timestamptz not null,
  used_at timestamptz,
  created_by uuid,
  created_at timestamptz not null default now()
);
call protect_tenant('device_provisions');

-- A device that was moved may meet the same address again, in its new organization.
alter table device_ip_history drop constraint device_ip_history_device_id_kind_ip_key;
create unique index device_ip_history_known on device_ip_history (device_id, org_id, kind, ip);
