-- What the routes of sites must know beyond the rows that the caller may read

-- A site out of reach is denied, one that does not exist is not found (spec/2-tenancy, Errors).
create function site_exists(site uuid) returns boolean
language sql stable security definer set search_path = public, pg_temp as
$$ select exists (
  select from sites s join organizations o on o.id = s.org_id join partners p on p.id = o.partner_id
  where s.id = site and o.deleted_at is null and p.deleted_at is null) $$;
revoke all on function site_exists(uuid) from public;
grant execute on function site_exists(uuid) to quartermaster_app, quartermaster_platform;

-- Which tables hold rows of a site, and how many. Read from the foreign keys, so that modules need not tell; only what
-- the caller's own role may read.
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
