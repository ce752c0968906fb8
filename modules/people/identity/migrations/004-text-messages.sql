-- Codes sent by text message (spec/1-identity, Login and MFA flow), and sessions that end for good.

-- Whoever confirms an authenticator shows an access token of their own, so nothing of the one that began it is kept.
alter table mfa_setups drop column bearer_hash, drop column session_id;

-- A session ends ninety days after its login, however often it is refreshed.
update sessions set expires_at = created_at + interval '90 days' where expires_at > created_at + interval '90 days';

create table sms_codes (
  -- New with each request, so that the job of an older one finds nothing to send.
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  purpose text not null check (purpose in ('phone', 'login', 'disable')),
  -- What the code is good for: the user's new number (the user), one temporary token (its hash), one session.
  bound_to text not null,
  -- For `phone` the number that waits to be confirmed; the user's own stays as it is until then.
  phone_number text not null,
  -- Null until the job that sends the code has made it.
  code_mac text,
  attempts integer not null default 0,
  expires_at timestamptz not null,
  unique (purpose, bound_to)
);
create index sms_codes_user on sms_codes (user_id);
create index sms_codes_expiry on sms_codes (expires_at);
call protect_platform('sms_codes');
