-- The trail's proofs: sealing in shards, vouched heads, Merkle trees with signed checkpoints, retention with anchors.

-- Entries of one owner lie in one shard, in the order of their ids; each shard has one sealer at a time.
alter table audit_outbox add column shard smallint not null
  generated always as ((hashtext(coalesce(coalesce(org_id, partner_id)::text, 'platform')) & 15)::smallint) stored;
create index audit_outbox_shard on audit_outbox (shard, id);

-- `proof` is made with a key that the database does not have; `fault` says why a chain will never be whole again.
alter table audit_heads add column proof text not null default '', add column fault text;

-- What retention took away: the last row pruned, and the hashes of the tree up to it, from which the rest goes on.
create table audit_anchors (
  owner text primary key,
  seq bigint not null check (seq > 0),
  checksum varchar(128) not null,
  -- how many rows were pruned in all
  count bigint not null,
  -- hashes of the complete subtrees up to seq, largest first, 32 bytes each
  frontier bytea not null,
  pruned_at timestamptz not null default now(),
  proof text not null
);
call protect_platform('audit_anchors');
create policy audit_admin on audit_anchors for select to quartermaster_audit_admin using (true);
grant select on audit_anchors to quartermaster_audit_admin;

-- How many rows of a chain the tree covers, and its hashes in tiles of 256 (C2SP tlog-tiles).
create table audit_trees (
  owner text primary key,
  size bigint not null check (size >= 0)
);
call protect_platform('audit_trees');
create table audit_tiles (
  owner text not null,
  level smallint not null,
  index bigint not null,
  hashes bytea not null check (length(hashes) % 32 = 0 and length(hashes) <= 8192),
  primary key (owner, level, index)
);
alter table audit_tiles alter column hashes set storage external;
call protect_platform('audit_tiles');

create table audit_signing_keys (
  -- the key id of C2SP signed-note: 8 hex digits
  id text primary key,
  name text not null,
  -- raw Ed25519 public key
  public_key bytea not null,
  -- ties the public key to this installation, so that another one put in its place is seen
  proof text not null,
  -- gone once the key is retired
  sealed_private_key text,
  created_at timestamptz not null default now(),
  retired_at timestamptz
);
create unique index audit_signing_keys_current on audit_signing_keys ((true)) where retired_at is null;
call protect_platform('audit_signing_keys');

create table audit_checkpoints (
  id uuid primary key default gen_random_uuid(),
  owner text not null,
  org_id uuid,
  partner_id uuid,
  size bigint not null check (size > 0),
  root_hash bytea not null check (length(root_hash) = 32),
  key_id text not null references audit_signing_keys (id),
  -- the signed note
  note text not null,
  created_at timestamptz not null default now(),
  -- when it was written to object storage
  stored_at timestamptz,
  unique (owner, size, key_id)
);
create index audit_checkpoints_newest on audit_checkpoints (owner, created_at desc, id desc);
create index audit_checkpoints_unstored on audit_checkpoints (created_at) where stored_at is null;
create index audit_checkpoints_age on audit_checkpoints (created_at);
create index audit_checkpoints_key on audit_checkpoints (key_id);
alter table audit_checkpoints enable row level security;
alter table audit_checkpoints force row level security;
create policy tenant_read on audit_checkpoints for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[])
         or (org_id is null and partner_id = (select app_partner_id())));
create policy platform on audit_checkpoints to quartermaster_platform using (true) with check (true);
create policy owner on audit_checkpoints to current_user using (true) with check (true);
grant select on audit_checkpoints to quartermaster_app;
grant select, insert, update, delete on audit_checkpoints to quartermaster_platform;

create table audit_retention_policies (
  org_id uuid primary key references organizations (id),
  retention_days integer not null default 365 check (retention_days between 1 and 3650),
  archive_to_s3 boolean not null default false,
  last_cleanup_at timestamptz,
  updated_at timestamptz not null default now()
);
call protect_tenant('audit_retention_policies');

-- Retention deletes rows, nothing else, and only those that the anchor already speaks for.
create or replace function refuse_audit_change() returns trigger language plpgsql set search_path = public, pg_temp as $$
begin
  if tg_op = 'DELETE' and current_user = 'quartermaster_audit_admin'
     and current_setting('app.audit_retention', true) = 'on'
     and old.seq <= (select a.seq from public.audit_anchors a where a.owner = old.owner) then
    return old;
  end if;
  raise exception 'audit_logs is append-only: % refused', tg_op using errcode = 'insufficient_privilege';
end $$;
revoke update on audit_logs from quartermaster_audit_admin;
-- A row lies in the chain of the tenant that sees it.
alter table audit_logs add constraint audit_logs_owner check (owner = case
  when org_id is not null then 'org:' || org_id::text
  when partner_id is not null then 'partner:' || partner_id::text
  else 'platform' end) not valid;
