-- What the lists of partners, organizations and sites walk along, and the count that one tenant role cannot make

-- System callers list across partners; partner callers are served by the core's index on (partner_id, lower(name), id).
create index partners_name on partners (lower(name), id) where deleted_at is null;
create index organizations_everywhere on organizations (lower(name), id) where deleted_at is null;
create index sites_everywhere on sites (lower(name), id);
-- "registration order" of PATCH /orgs/organizations/order
create index organizations_registered on organizations (partner_id, created_at, id) where deleted_at is null;

-- The cap of a partner counts every organization, while its users may reach only some, so the count runs as the owner.
create function count_organizations(partner uuid) returns integer
language sql stable security definer set search_path = public, pg_temp as
$$ select count(*)::integer from organizations where partner_id = partner and deleted_at is null $$;
revoke all on function count_organizations(uuid) from public;
grant execute on function count_organizations(uuid) to quartermaster_app, quartermaster_platform;
