-- An organization may demand a second factor in its settings, and a Force MFA role wants an authenticator: both decide
-- who a caller is, so a change is told at once (see 007).

create trigger principals_changed_settings after update of settings on organizations
  for each statement execute function principals_changed();
create trigger principals_changed_method after update of mfa_method on users
  for each statement execute function principals_changed();

-- Every partner has its own Partner Admin role; those that an administrator made before had none.
with made as (
  insert into roles (partner_id, scope, name, description, is_system, force_mfa)
  select p.id, 'partner', 'Partner Admin', 'Everything, for every organization of the partner', true, true
  from partners p where not exists (select from roles r where r.partner_id = p.id and r.is_system)
  returning id)
insert into role_permissions (role_id, permission_id)
select made.id, p.id from made, permissions p where p.resource = '*' and p.action = '*';
