-- The limit of a partner counts every organization, while its users may reach only some, so the count runs as the owner. Tenants
-- count those of their own partner.
create or replace function count_organizations(partner uuid) returns integer
language sql stable security definer set search_path = public, pg_temp as
$$ select count(*)::integer from organizations where partner_id = partner and deleted_at is null
   and (partner = app_partner_id() or not app_is_tenant()) $$;

comment on function site_exists(uuid) is
  'any tenant: it tells only that a random id is in use, so that denied sites differ from missing ones';
