-- Tags have one form (domain/tags, section 1.2): those of before are brought into it, and a device has at most 50.

update devices set tags = array(
  select distinct n.tag from (
    select lower(trim(regexp_replace(normalize(t, nfc), '\s+', ' ', 'g'))) as tag from unnest(tags) t) n
  where n.tag <> '' order by n.tag limit 50)
where tags <> '{}';
alter table devices add constraint devices_tags_few check (cardinality(tags) <= 50);
-- Written rarely, read by every list of tags.
alter index devices_tags set (fastupdate = off);
