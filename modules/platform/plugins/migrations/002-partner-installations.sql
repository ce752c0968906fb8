-- Installations of partners: each serves all organizations of its partner, every one of them apart from the others

alter table plugin_installations
  alter column org_id drop not null,
  add column partner_id uuid references partners (id),
  add constraint plugin_installations_owner check (num_nonnulls(org_id, partner_id) = 1);
create unique index plugin_installations_partner on plugin_installations (partner_id, catalog_id);
create index plugin_installations_partner_order on plugin_installations (partner_id, slug, id);

-- One lane for each organization that an installation serves.
alter table plugin_queue
  drop constraint plugin_queue_installation_id_key_key,
  add constraint plugin_queue_once unique (installation_id, org_id, key);
drop index plugin_queue_due;
drop index plugin_queue_leased;
create index plugin_queue_due on plugin_queue (installation_id, org_id, due_at);
create index plugin_queue_leased on plugin_queue (installation_id, org_id) where leased_until is not null;

alter table plugin_schedules
  alter column org_id drop not null,
  add column partner_id uuid,
  add constraint plugin_schedules_owner check (num_nonnulls(org_id, partner_id) = 1);

-- What a partner's plugin keeps in an organization is not for the organization's own one to read.
alter table plugin_kv
  add column of_partner boolean not null default false,
  drop constraint plugin_kv_pkey,
  add primary key (org_id, slug, of_partner, key);

-- Of an organization, or of a step in the life of a partner's installation, which is nobody's but the partner's.
alter table plugin_logs
  alter column org_id drop not null,
  add column partner_id uuid,
  add constraint plugin_logs_owner check (num_nonnulls(org_id, partner_id) = 1);

drop index plugin_catalog_order;
create index plugin_catalog_order on plugin_catalog ((- is_featured::integer), (- install_count), slug);

do $$
declare target text; rule text;
begin
  foreach target in array array['plugin_installations', 'plugin_schedules', 'plugin_logs'] loop
    foreach rule in array array['tenant_read', 'tenant_insert', 'tenant_update', 'tenant_delete', 'platform', 'owner'] loop
      execute format('drop policy %I on %I', rule, target);
    end loop;
  end loop;
end $$;
call protect_tenant('plugin_installations', 'org_id', 'partner_id');
call protect_tenant('plugin_schedules', 'org_id', 'partner_id');
call protect_tenant('plugin_logs', 'org_id', 'partner_id');
drop policy tenant_read on plugin_logs;
create policy tenant_read on plugin_logs for select to quartermaster_app
  using (org_id = any ((select app_org_ids())::uuid[]) or (org_id is null and partner_id = (select app_partner_id())));

-- The installations that serve an organization: its own, and its partner's of all plugins that it has none of.
create function plugins_serving(organization uuid) returns setof plugin_installations
language sql stable as $$
  select i.* from plugin_installations i where i.org_id = organization
  union all
  select i.* from organizations o join plugin_installations i on i.partner_id = o.partner_id
  where o.id = organization
    and not exists (select from plugin_installations own where own.org_id = o.id and own.catalog_id = i.catalog_id)
$$;

create or replace function plugin_fan_out(given jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp as $$
begin
  insert into plugin_queue (installation_id, org_id, key, kind, body, depth, due_at)
  select i.id, e.org_id, 'event:' || e.id, 'event', e.body::json, e.depth, now()
  from jsonb_to_recordset(given) as e (id uuid, org_id uuid, kind text, actor_id text, depth integer, body text)
    cross join lateral plugins_serving(e.org_id) i
  where i.enabled and i.listens @> array[e.kind] and i.id::text is distinct from e.actor_id
  on conflict do nothing;
end $$;
