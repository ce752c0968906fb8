-- Every name begins with acme_, the scope of the package

create table acme_asset_labels (
  id uuid primary key default gen_random_uuid(),
  org_id uuid not null references organizations (id),
  device_id uuid not null references devices (id) on delete cascade,
  label varchar(40) not null,
  created_by uuid,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint acme_asset_labels_one_each unique (device_id),
  constraint acme_asset_labels_label unique (org_id, label)
);
-- The list's order, across organizations too
create index acme_asset_labels_order on acme_asset_labels (label, id);
call protect_tenant('acme_asset_labels');

create table acme_asset_label_numbers (
  org_id uuid primary key references organizations (id),
  last integer not null
);
call protect_tenant('acme_asset_label_numbers');
