-- Checkpoints are added and thinned out by functions of the owner: the platform's role has no way to any other.

revoke insert, update, delete on audit_checkpoints from quartermaster_platform;
grant update (stored_at) on audit_checkpoints to quartermaster_platform;

-- Adds the checkpoint of all of a chain's tree: its note says the owner, the size and the root, and the key is the current one.
-- The signature is checked by all who read it.
create function audit_add_checkpoint(of_owner text, of_size bigint, root bytea, key text, signed text)
returns setof audit_checkpoints
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  if not exists (select from audit_trees t join audit_heads h on h.owner = t.owner
      where t.owner = of_owner and t.size = of_size and h.seq >= of_size)
    or not exists (select from audit_signing_keys k where k.id = key and k.retired_at is null)
    or split_part(signed, e'\n', 1) not like '%/' || of_owner
    or split_part(signed, e'\n', 2) <> of_size::text
    or split_part(signed, e'\n', 3) <> encode(root, 'base64') then
    raise exception 'a checkpoint covers all of the tree of its chain' using errcode = 'insufficient_privilege';
  end if;
  return query insert into audit_checkpoints (owner, org_id, partner_id, size, root_hash, key_id, note)
    values (of_owner,
      case when of_owner like 'org:%' then split_part(of_owner, ':', 2)::uuid end,
      case when of_owner like 'partner:%' then split_part(of_owner, ':', 2)::uuid end,
      of_size, root, key, signed)
    returning *;
end $$;

-- Leaves the last checkpoint of each day and chain, of those that are in the archive and older than a month: a newer one covers
-- everything that an older one does.
create function audit_thin_checkpoints() returns integer
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  thinned integer;
begin
  delete from audit_checkpoints c where created_at < now() - interval '30 days' and created_at > now() - interval '33 days'
    and stored_at is not null
    and exists (select from audit_checkpoints newer where newer.owner = c.owner and newer.created_at > c.created_at
      and newer.created_at < date_trunc('day', c.created_at, 'UTC') + interval '1 day');
  get diagnostics thinned = row_count;
  return thinned;
end $$;
revoke all on function audit_add_checkpoint(text, bigint, bytea, text, text), audit_thin_checkpoints() from public;
grant execute on function audit_add_checkpoint(text, bigint, bytea, text, text), audit_thin_checkpoints() to quartermaster_platform;
