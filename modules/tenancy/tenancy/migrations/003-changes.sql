-- Organizations and sites can be followed (core's track_changes). An organization is noted with its partner: those who reach it
-- no longer could not read of its end otherwise.
call track_changes('organizations', 'organizations', org => 'null', partner => 'partner_id');
call track_changes('sites', 'sites', site => 'id');
