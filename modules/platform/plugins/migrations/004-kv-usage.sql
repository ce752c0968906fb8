-- What the values of plugins take in each organization, so that the sums of organizations and partners have an end and no
-- write has to add up all values.
create table plugin_kv_usage (
  org_id uuid primary key references organizations (id),
  bytes bigint not null
);
call protect_tenant('plugin_kv_usage');
insert into plugin_kv_usage (org_id, bytes) select org_id, sum(bytes) from plugin_kv group by org_id;

create function plugin_kv_count() returns trigger
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  org uuid := case tg_op when 'DELETE' then old.org_id else new.org_id end;
  change bigint := case tg_op when 'INSERT' then new.bytes when 'DELETE' then -old.bytes else new.bytes - old.bytes end;
begin
  insert into plugin_kv_usage as u (org_id, bytes) values (org, greatest(change, 0))
  on conflict (org_id) do update set bytes = u.bytes + change;
  return null;
end $$;
create trigger plugin_kv_count after insert or delete or update of bytes on plugin_kv
  for each row execute function plugin_kv_count();

-- What is stored in the organization, and in all of its partner. Writers in an organization take turns until the end of their
-- transactions; near the limit so do those of a partner, so that none pass it together.
create function plugin_kv_room(org uuid, most_of_partner bigint) returns table (of_org bigint, of_partner bigint)
language plpgsql security definer set search_path = public, pg_temp as $$
declare
  partner uuid;
  in_turn boolean := false;
begin
  perform app_must_reach(array[org]);
  perform pg_advisory_xact_lock(hashtextextended('plugin-kv:' || org, 0));
  select o.partner_id into partner from organizations o where o.id = org;
  loop
    select coalesce(sum(u.bytes) filter (where u.org_id = org), 0), coalesce(sum(u.bytes), 0) into of_org, of_partner
    from plugin_kv_usage u join organizations o on o.id = u.org_id where o.partner_id = partner;
    exit when in_turn or of_partner < most_of_partner * 0.9;
    perform pg_advisory_xact_lock(hashtextextended('plugin-kv-partner:' || partner, 0));
    in_turn := true;
  end loop;
  return next;
end $$;
revoke all on function plugin_kv_count() from public;
revoke all on function plugin_kv_room(uuid, bigint) from public;
grant execute on function plugin_kv_room(uuid, bigint) to quartermaster_app, quartermaster_platform;
