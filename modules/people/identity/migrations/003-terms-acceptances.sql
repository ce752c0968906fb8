-- Which terms a user accepted, when, and from which address

create table terms_acceptances (
  user_id uuid not null references users (id) on delete cascade,
  version varchar(100) not null,
  accepted_at timestamptz not null default now(),
  ip_address text,
  primary key (user_id, version)
);
call protect_platform('terms_acceptances');
