-- The newest reset link of a user (spec/1-identity, Password rules); an older one is worthless.

create table password_resets (
  user_id uuid primary key references users (id) on delete cascade,
  token_hash text not null unique,
  expires_at timestamptz not null
);
call protect_platform('password_resets');
