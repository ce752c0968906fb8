-- What waits for a plugin is forgotten when it is switched off, whoever does that and however far they reach

-- A commit at the same moment may still leave work behind, which is forgotten when the plugin is enabled again: all but what
-- it has put off itself, as its onInstall and onEnable may.
create function plugin_forget() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  delete from plugin_queue where installation_id = new.id and (kind <> 'once' or old.enabled);
  return null;
end $$;
revoke all on function plugin_forget() from public;
create trigger plugin_installations_forget after update of enabled on plugin_installations for each row
  when (old.enabled <> new.enabled) execute function plugin_forget();
