-- Passkeys of users, and the challenges to be signed with them (WebAuthn Level 3)

create table passkeys (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null references users (id) on delete cascade,
  -- Base64url, as browsers send it.
  credential_id text not null unique,
  -- In COSE format, as the authenticator created it.
  public_key bytea not null,
  counter bigint not null check (counter >= 0),
  transports text[] not null default '{}',
  device_type text not null check (device_type in ('singleDevice', 'multiDevice')),
  backed_up boolean not null,
  aaguid uuid not null,
  name varchar(100) not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id, created_at desc, id desc);
call protect_platform('passkeys');

-- Deleted by the first response, whether it is valid or not.
create table passkey_challenges (
  id uuid primary key default gen_random_uuid(),
  challenge text not null,
  purpose text not null check (purpose in ('register', 'login', 'factor')),
  user_id uuid references users (id) on delete cascade,
  -- A registration must end in the session in which it began.
  session_id uuid references sessions (id) on delete cascade,
  expires_at timestamptz not null,
  check ((purpose = 'login') = (user_id is null)),
  check ((purpose = 'register') = (session_id is not null))
);
create index passkey_challenges_user on passkey_challenges (user_id);
create index passkey_challenges_session on passkey_challenges (session_id);
create index passkey_challenges_expiry on passkey_challenges (expires_at);
call protect_platform('passkey_challenges');
