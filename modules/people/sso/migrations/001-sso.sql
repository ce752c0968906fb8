-- Single sign-on: providers, the identities of users at a provider, and logins in progress

create table sso_providers (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  name varchar(100) not null,
  type text not null default 'oidc' check (type = 'oidc'),
  preset text not null default 'custom',
  status text not null default 'inactive' check (status in ('active', 'inactive', 'testing')),
  issuer text not null,
  client_id text not null,
  client_secret text,
  client_auth text not null default 'auto' check (client_auth in ('auto', 'client_secret_basic', 'client_secret_post')),
  scopes text[] not null,
  email_claim text not null default 'email',
  name_claim text not null default 'name',
  trust_email boolean not null default false,
  auto_provision boolean not null default false,
  default_role_id uuid references roles (id) on delete set null,
  allowed_domains text[] not null default '{}',
  enforce_sso boolean not null default false,
  -- When discovery last succeeded with this issuer.
  tested_at timestamptz,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index sso_providers_name on sso_providers (org_id, lower(name));
create unique index sso_providers_active on sso_providers (org_id) where status = 'active';
create index sso_providers_order on sso_providers (lower(name), id);
create index sso_providers_role on sso_providers (default_role_id);
call protect_tenant('sso_providers');

-- Maps the subject of a provider to a user. All rows of a provider are deleted when its issuer changes.
create table sso_identities (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  provider_id uuid not null references sso_providers (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  subject varchar(255) not null,
  email varchar(255) not null,
  created_at timestamptz not null default now(),
  last_login_at timestamptz not null default now(),
  unique (provider_id, subject),
  unique (user_id, provider_id)
);
call protect_tenant('sso_identities');

-- A login that was redirected to the provider. It outlives the provider, so that the callback can report that it was deleted.
create table sso_sessions (
  id uuid primary key default gen_random_uuid(),
  state_hash text not null unique,
  -- Hash of the cookie of the browser that began the login; another browser cannot finish it.
  browser_hash text not null,
  provider_id uuid not null,
  issuer text not null,
  client_id text not null,
  code_verifier text not null,
  nonce text not null,
  return_to text,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);
create index sso_sessions_expiry on sso_sessions (expires_at);
call protect_platform('sso_sessions');

-- A login that returned from the provider, until the application exchanges its code.
create table sso_codes (
  code_hash text primary key,
  browser_hash text not null,
  provider_id uuid not null references sso_providers (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  org_id uuid not null references organizations (id),
  mfa boolean not null,
  expires_at timestamptz not null,
  used_at timestamptz
);
create index sso_codes_expiry on sso_codes (expires_at);
create index sso_codes_provider on sso_codes (provider_id);
create index sso_codes_user on sso_codes (user_id);
call protect_platform('sso_codes');
