-- Definitions of custom fields; the values are stored with the objects that they describe

create table custom_fields (
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  name varchar(100) not null,
  field_key varchar(100) not null check (field_key ~ '^[a-z][a-z0-9_]{0,99}$'),
  type text not null check (type in ('text', 'number', 'boolean', 'dropdown', 'date')),
  options jsonb not null default '{}',
  required boolean not null default false,
  default_value jsonb,
  device_types text[] check (device_types <@ array['windows', 'macos', 'linux']),
  editable_by text not null default 'both' check (editable_by in ('user', 'script', 'both')),
  show_in_list boolean not null default false,
  searchable boolean not null default false,
  show_in_portal boolean not null default false,
  sort_order integer not null default 0,
  description varchar(500),
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Deleted, while a job still removes its values: until the job ends the key remains taken.
  deleted_at timestamptz,
  check (num_nonnulls(org_id, partner_id) = 1)
);
create unique index custom_fields_org_key on custom_fields (org_id, field_key);
create unique index custom_fields_partner_key on custom_fields (partner_id, field_key);
create index custom_fields_order on custom_fields (sort_order, lower(name), id) where deleted_at is null;
call protect_tenant('custom_fields', 'org_id', 'partner_id');

-- Enforces two rules over rows of several tenants, which no single caller can see: a partner and its organizations never use the
-- same key, and an owner has at most 100 fields. New fields of one partner are serialized by a lock.
create function admit_custom_field() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  family uuid := coalesce(new.partner_id, (select partner_id from organizations where id = new.org_id));
begin
  perform pg_advisory_xact_lock(hashtextextended('custom-fields:' || family, 0));
  if exists (
    select 1 from custom_fields f left join organizations o on o.id = f.org_id
    where f.field_key = new.field_key
      and case when new.partner_id is null then f.partner_id = family else o.partner_id = family end
  ) then
    raise exception 'key taken' using errcode = 'unique_violation', constraint = 'custom_fields_family_key';
  end if;
  if (select count(*) from custom_fields
      where case when new.partner_id is null then org_id = new.org_id else partner_id = new.partner_id end) >= 100 then
    raise exception 'too many' using errcode = 'check_violation', constraint = 'custom_fields_limit';
  end if;
  return new;
end $$;
create trigger custom_fields_admit before insert on custom_fields
  for each row execute function admit_custom_field();
