-- Invitations: rows of their own, so that nobody has an account or a place before they accept

create table invitations (
  -- The id of the account, when one is made by accepting.
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  -- In lower case, as logins compare it.
  email varchar(255) not null check (email = lower(email)),
  name varchar(255) not null,
  role_id uuid not null references roles (id),
  site_ids uuid[] check (cardinality(site_ids) > 0),
  device_group_ids uuid[] check (cardinality(device_group_ids) > 0),
  org_access text check (org_access in ('all', 'selected', 'none')),
  org_ids uuid[] not null default '{}',
  -- SHA-256 of the link's token; null until the mail with it is on its way.
  token_hash text unique,
  expires_at timestamptz not null,
  -- A user; null when an API key invited.
  invited_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (num_nonnulls(org_id, partner_id) = 1),
  check ((partner_id is null) = (org_access is null)),
  check (partner_id is null or num_nonnulls(site_ids, device_group_ids) = 0),
  check ((org_access is not distinct from 'selected') = (org_ids <> '{}'))
);
create unique index invitations_org on invitations (org_id, email) where org_id is not null;
create unique index invitations_partner on invitations (partner_id, email) where partner_id is not null;
create index invitations_role on invitations (role_id);
create index invitations_expiry on invitations (expires_at);
call protect_tenant('invitations', 'org_id', 'partner_id');

-- Unlike shared objects, a partner's invitations are not for its organizations to read.
drop policy tenant_read on invitations;
create policy tenant_read on invitations for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[]) or (org_id is null and partner_id = (select app_partner_id())));
