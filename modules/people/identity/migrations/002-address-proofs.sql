-- Links by which users confirm the address that they registered with

-- The newest link of a user; earlier links are invalid.
create table address_proofs (
  user_id uuid primary key references users (id) on delete cascade,
  token_hash text not null unique,
  expires_at timestamptz not null
);
call protect_platform('address_proofs');
