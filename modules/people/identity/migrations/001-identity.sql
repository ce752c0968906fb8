-- Identity: enrollment keys, the second factor, and password resets

-- Enrollment keys bring new agents into an organization. Only the hash of a key is stored.
create table enrollment_keys (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  site_id uuid,
  name varchar(255) not null,
  key_hash text not null unique,
  usage_count integer not null default 0 check (usage_count >= 0),
  max_usage integer check (max_usage between 1 and 100000),
  expires_at timestamptz not null,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  -- A key cannot assign agents to a site of another organization.
  foreign key (site_id, org_id) references sites (id, org_id)
);
create index enrollment_keys_org on enrollment_keys (org_id, created_at desc, id desc);
create index enrollment_keys_site on enrollment_keys (site_id) where site_id is not null;
call protect_tenant('enrollment_keys');

-- An authenticator that is not confirmed yet. Secret and recovery codes are sealed.
create table mfa_setups (
  user_id uuid primary key references users (id) on delete cascade,
  secret text not null,
  recovery_codes text not null,
  expires_at timestamptz not null
);
call protect_platform('mfa_setups');

-- A login with a correct password that still needs its code. Deleted when the code is accepted.
create table mfa_challenges (
  token_hash text primary key,
  user_id uuid not null references users (id) on delete cascade,
  scope text not null check (scope in ('system', 'partner', 'organization')),
  partner_id uuid references partners (id),
  org_id uuid references organizations (id),
  expires_at timestamptz not null
);
create index mfa_challenges_user on mfa_challenges (user_id);
create index mfa_challenges_expiry on mfa_challenges (expires_at);
call protect_platform('mfa_challenges');

-- The number of codes that a user tried in the current window, from all addresses together.
create table mfa_attempts (
  user_id uuid primary key references users (id) on delete cascade,
  attempts integer not null,
  window_ends_at timestamptz not null
);
call protect_platform('mfa_attempts');

-- Codes sent by text message.
create table sms_codes (
  -- New with each request, so that the job of an earlier request finds nothing to send.
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  purpose text not null check (purpose in ('phone', 'login', 'disable')),
  -- What the code is valid for: the user's new number (id of the user), one temporary token (its hash), or one session.
  bound_to text not null,
  -- For `phone` the number to be confirmed; the user's own number remains unchanged until then.
  phone_number text not null,
  -- Null until the job that sends the code has created it.
  code_mac text,
  attempts integer not null default 0,
  expires_at timestamptz not null,
  unique (purpose, bound_to)
);
create index sms_codes_user on sms_codes (user_id);
create index sms_codes_expiry on sms_codes (expires_at);
call protect_platform('sms_codes');

-- The newest reset link of a user; earlier links are invalid.
create table password_resets (
  user_id uuid primary key references users (id) on delete cascade,
  token_hash text not null unique,
  expires_at timestamptz not null
);
call protect_platform('password_resets');
