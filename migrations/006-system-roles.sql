-- The built-in roles. Partner Admin is made anew for each partner at registration (spec/2-tenancy, Self-registration).

insert into roles (id, scope, name, description, is_system, force_mfa) values
  ('00000000-0000-4000-8000-000000000001', 'system', 'System Administrator', 'Everything, for every tenant', true, false),
  ('00000000-0000-4000-8000-000000000002', 'organization', 'Organization Admin', 'Everything within one organization', true, false),
  ('00000000-0000-4000-8000-000000000003', 'organization', 'Technician', 'Sees and works on devices, scripts and alerts', true, false),
  ('00000000-0000-4000-8000-000000000004', 'organization', 'Viewer', 'Sees everything, changes nothing', true, false);

insert into role_permissions (role_id, permission_id)
select r.id, p.id from roles r join permissions p on
  case r.name
    when 'Technician' then p.resource in ('devices', 'scripts', 'alerts', 'automations', 'remote') or (p.resource <> '*' and p.action = 'view')
    when 'Viewer' then p.resource <> '*' and p.action = 'view'
    else p.resource = '*'
  end
where r.is_system;
