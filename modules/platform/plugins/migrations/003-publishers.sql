-- A slug belongs to the key that signed its first package, and the mark of an operator to one version.
alter table plugin_catalog
  -- Id of the trusted key, and SHA-256 of the key itself: an id that is given to another key is another publisher. Null: not signed.
  add column publisher_key text,
  add column publisher_fingerprint text check (publisher_fingerprint ~ '^[0-9a-f]{64}$');
alter table plugin_versions add column is_verified boolean not null default false;

-- What stands is the newest version's; the fingerprint comes with the next package.
update plugin_catalog c set publisher_key = (
  select v.signed_by from plugin_versions v where v.catalog_id = c.id and v.signed_by is not null order by v.released_at desc limit 1);
update plugin_versions v set is_verified = true
  from plugin_catalog c where c.id = v.catalog_id and c.is_verified and (c.source = 'builtin' or v.version = c.version);
