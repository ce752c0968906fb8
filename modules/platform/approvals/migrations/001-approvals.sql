-- Requests for the decision of a second person.

create table approval_requests (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  -- what has it approved, such as device-commands.bulk, and the object of it
  kind varchar(100) not null,
  subject_type varchar(50) not null,
  subject_id uuid not null,
  -- what it is for; with neither it is for the whole organization
  site_ids uuid[] not null default '{}',
  device_ids uuid[] not null default '{}' check (cardinality(device_ids) <= 5000),
  -- what is carried out, or {"$sealed"} of it; the hash is keyed
  input jsonb not null,
  input_hash text not null,
  -- what deciders see
  title varchar(255) not null,
  details jsonb not null,
  link varchar(500) check (link ~ '^/(?![/\\])'),
  -- the person who asks; with an API key, who made it
  asked_by uuid not null,
  asked_key_id uuid,
  asked_name varchar(255) not null,
  asked_with_mfa boolean not null,
  reason varchar(1000),
  status text not null default 'pending' check (status in ('pending', 'approved', 'rejected', 'cancelled', 'expired')),
  decided_by uuid,
  decided_name varchar(255),
  decided_at timestamptz,
  decision_reason varchar(1000),
  expires_at timestamptz not null,
  -- set when the kind has heard of the end; of what was approved also what came of it
  concluded_at timestamptz,
  outcome text check (outcome in ('done', 'failed')),
  outcome_code varchar(100),
  outcome_message varchar(1000),
  result jsonb,
  version integer not null default 1,
  causation jsonb not null,
  created_at timestamptz not null default now(),
  constraint approval_requests_second_person check (decided_by is null or decided_by <> asked_by),
  constraint approval_requests_decided check ((status = 'pending') = (decided_at is null)),
  constraint approval_requests_decider check ((status in ('approved', 'rejected')) = (decided_by is not null))
);
-- One open request for each subject.
create unique index approval_requests_open on approval_requests (org_id, kind, subject_id, subject_type) where status = 'pending';
create index approval_requests_list on approval_requests (org_id, created_at desc, id desc);
create index approval_requests_asker on approval_requests (asked_by, created_at desc, id desc);
create index approval_requests_expiry on approval_requests (expires_at) where status = 'pending';
create index approval_requests_unconcluded on approval_requests (decided_at) where status <> 'pending' and concluded_at is null;
create index approval_requests_age on approval_requests (created_at) where status <> 'pending';
call protect_tenant('approval_requests');
