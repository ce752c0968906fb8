-- What the second factor keeps between two requests (spec/1-identity, Login and MFA flow).

-- An authenticator that waits to be confirmed. Secret and recovery codes are sealed.
create table mfa_setups (
  user_id uuid primary key references users (id) on delete cascade,
  session_id uuid not null references sessions (id) on delete cascade,
  -- The access token that began the setup, so that POST /auth/mfa/verify, which is public, knows who confirms.
  bearer_hash text not null,
  secret text not null,
  recovery_codes text not null,
  expires_at timestamptz not null
);
create index mfa_setups_bearer on mfa_setups (bearer_hash);
create index mfa_setups_session on mfa_setups (session_id);
call protect_platform('mfa_setups');

-- A login whose password was right and whose code is still missing. Deleted when the code is accepted.
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

-- How many codes a user tried in the running window, whatever the address they came from.
create table mfa_attempts (
  user_id uuid primary key references users (id) on delete cascade,
  attempts integer not null,
  window_ends_at timestamptz not null
);
call protect_platform('mfa_attempts');
