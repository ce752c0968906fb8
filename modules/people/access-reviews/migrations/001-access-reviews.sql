-- Access reviews of a partner's or an organization's users

create table access_reviews (
  id uuid primary key default gen_random_uuid(),
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  name varchar(255) not null check (name <> ''),
  description text,
  status text not null default 'pending' check (status in ('pending', 'in_progress', 'completed')),
  -- Users can be removed while the review must stay readable: names are kept beside ids, and no foreign key refers to users.
  reviewer_id uuid not null,
  reviewer_name varchar(255) not null,
  due_date timestamptz,
  -- Name and permissions of each role when the review began: {"<id>": {"name": ..., "permissions": [...]}}
  roles jsonb not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  completed_at timestamptz,
  check (num_nonnulls(org_id, partner_id) = 1),
  check ((status = 'completed') = (completed_at is not null))
);
create index access_reviews_org on access_reviews (org_id, created_at, id) where org_id is not null;
create index access_reviews_partner on access_reviews (partner_id, created_at, id) where partner_id is not null;
call protect_tenant('access_reviews', 'org_id', 'partner_id');

create table access_review_items (
  id uuid primary key default gen_random_uuid(),
  review_id uuid not null references access_reviews (id) on delete cascade,
  org_id uuid references organizations (id),
  partner_id uuid references partners (id),
  user_id uuid not null,
  user_name varchar(255) not null,
  user_email varchar(255) not null,
  role_id uuid not null,
  -- The last login before the review began, then before it was completed.
  last_active_at timestamptz,
  decision text not null default 'pending' check (decision in ('pending', 'approved', 'revoked')),
  notes text,
  reviewed_at timestamptz,
  reviewed_by uuid,
  created_at timestamptz not null default now(),
  check (num_nonnulls(org_id, partner_id) = 1),
  unique (review_id, user_id)
);
create index access_review_items_list on access_review_items (review_id, lower(user_name), id);
create index access_review_items_open on access_review_items (review_id) where decision = 'pending';
call protect_tenant('access_review_items', 'org_id', 'partner_id');

-- Unlike shared objects, the reviews of a partner are not readable by its organizations.
alter policy tenant_read on access_reviews
  using (org_id = any ((select app_org_ids())::uuid[]) or (org_id is null and partner_id = (select app_partner_id())));
alter policy tenant_read on access_review_items
  using (org_id = any ((select app_org_ids())::uuid[]) or (org_id is null and partner_id = (select app_partner_id())));
