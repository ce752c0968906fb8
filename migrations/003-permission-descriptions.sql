-- What each permission allows, for the catalog of permissions

update permissions p set description = verb.word || ' ' || noun.word
from (values ('view', 'View'), ('create', 'Create'), ('update', 'Change'), ('delete', 'Delete'), ('execute', 'Run')) verb (action, word),
  (values
    ('devices', 'devices and their inventory'), ('scripts', 'scripts'), ('alerts', 'alerts and their rules'),
    ('automations', 'automations'), ('reports', 'reports'), ('backup', 'backups'), ('billing', 'billing data'),
    ('users', 'users and roles'), ('settings', 'settings'), ('organizations', 'organizations'), ('sites', 'sites'),
    ('remote', 'remote sessions')) noun (resource, word)
where p.resource = noun.resource and p.action = verb.action;

update permissions p set description = special.description
from (values
    ('devices', 'execute', 'Run commands and live tools on devices'),
    ('alerts', 'update', 'Acknowledge, resolve and change alerts and their rules'),
    ('users', 'create', 'Invite users and create roles'),
    ('settings', 'view', 'View settings and the audit trail'),
    ('settings', 'execute', 'Export the audit trail'),
    ('remote', 'execute', 'Open remote sessions')) special (resource, action, description)
where p.resource = special.resource and p.action = special.action;
