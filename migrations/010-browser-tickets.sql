-- What opens a stream or a download where a browser cannot send a header: once, within a minute, for a session.

create table browser_tickets (
  token_hash text primary key,
  session_id uuid not null references sessions (id) on delete cascade,
  purpose text not null,
  -- the address that asked for it; null where addresses are not compared
  address inet,
  expires_at timestamptz not null
);
create index browser_tickets_expiry on browser_tickets (expires_at);
create index browser_tickets_session on browser_tickets (session_id);
call protect_platform('browser_tickets');
