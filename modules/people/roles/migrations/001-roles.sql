-- Names of roles are unique within a tenant; the same indexes serve the lists ordered by name.

create unique index roles_org_name on roles (org_id, lower(name));
create unique index roles_partner_name on roles (partner_id, lower(name));
create index roles_name on roles (lower(name), id);
