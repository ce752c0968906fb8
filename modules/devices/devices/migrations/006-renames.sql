-- When a device was last given another name: a walk through the list by names shows at its end those renamed meanwhile.

alter table devices add column renamed_at timestamptz;
create index devices_renamed on devices (renamed_at) where renamed_at is not null;

create function note_device_rename() returns trigger language plpgsql as $$
begin
  new.renamed_at := clock_timestamp();
  return new;
end $$;
create trigger note_rename before update of hostname on devices for each row
  when (lower(old.hostname) is distinct from lower(new.hostname)) execute function note_device_rename();
