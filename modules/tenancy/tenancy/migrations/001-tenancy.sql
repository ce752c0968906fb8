-- Indexes for the lists of partners, organizations and sites, and what the tenant role cannot find out by itself

-- System callers list across partners; partner callers are served by the core's index on (partner_id, lower(name), id).
create index partners_name on partners (lower(name), id) where deleted_at is null;
create index organizations_everywhere on organizations (lower(name), id) where deleted_at is null;
create index sites_everywhere on sites (lower(name), id);
-- Order of registration, for PATCH /orgs/organizations/order.
create index organizations_registered on organizations (partner_id, created_at, id) where deleted_at is null;

-- The limit of a partner counts every organization, while its users may reach only some, so the count runs as the owner.
create function count_organizations(partner uuid) returns integer
language sql stable security definer set search_path = public, pg_temp as
$$ select count(*)::integer from organizations where partner_id = partner and deleted_at is null $$;
revoke all on function count_organizations(uuid) from public;
grant execute on function count_organizations(uuid) to quartermaster_app, quartermaster_platform;

-- Distinguishes a site that the caller cannot reach (denied) from one that does not exist (not found).
create function site_exists(site uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as
$$ select exists (
  select from sites s join organizations o on o.id = s.org_id join partners p on p.id = o.partner_id
  where s.id = site and o.deleted_at is null and p.deleted_at is null) $$;
revoke all on function site_exists(uuid) from public;
grant execute on function site_exists(uuid) to quartermaster_app, quartermaster_platform;

-- Counts the rows of a site by table. The tables are found through their foreign keys, so that modules need not register them;
-- only tables that the caller's role may read are counted.
create function site_uses(site uuid) returns table (used_by text, count integer) language plpgsql stable as $$
declare
  key record;
begin
  for key in
    select k.conrelid::regclass::text as tab, a.attname as col from pg_constraint k
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = k.conkey[array_position(k.confkey,
      (select attnum from pg_attribute where attrelid = k.confrelid and attname = 'id'))]
    where k.contype = 'f' and k.confrelid = 'sites'::regclass and k.conparentid = 0 and k.confdeltype in ('a', 'r')
      and has_table_privilege(k.conrelid, 'select')
    order by 1
  loop
    used_by := key.tab;
    execute format('select count(*)::integer from %s where %I = $1', key.tab, key.col) into count using site;
    if count > 0 then return next; end if;
  end loop;
end $$;

-- Organizations and sites can be followed (track_changes of core). A change of an organization is recorded for its partner,
-- because callers who can no longer reach the organization could not read of its removal otherwise.
call track_changes('organizations', 'organizations', org => 'null', partner => 'partner_id');
call track_changes('sites', 'sites', site => 'id');
