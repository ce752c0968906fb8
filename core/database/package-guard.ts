/** Holds a module package's migration to its own names: the catalog before and after, compared in the same transaction. */
import type pg from 'pg';

interface Thing {
  kind: string;
  name: string;
  /** What it belongs to, where that is not itself. */
  base: string;
  mark: string;
}
type Catalog = Map<string, Thing>;

/**
 * All that has a name, with a digest of what it is. Partitions come and go by the clock, also meanwhile, so they count with
 * their table; indexes and what hangs on a table are the table's as well.
 */
const THINGS = `
with place as (
  select oid, nspname, case nspname when 'public' then '' else nspname || '.' end as path
  from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema'
)
select 'schema' as kind, nspname as name, '' as base, '' as mark from place
union all
select case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
    when 'c' then 'type' when 'f' then 'foreign table' else 'table' end,
  p.path || c.relname, p.path || c.relname,
  md5(concat_ws('|', c.relkind, c.relowner, c.relacl, c.relrowsecurity, c.relforcerowsecurity, c.reloptions,
    (select string_agg(concat_ws(' ', a.attnum, a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attacl,
        pg_get_expr(d.adbin, d.adrelid)), ',' order by a.attnum)
      from pg_attribute a left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where a.attrelid = c.oid and a.attnum > 0),
    (select string_agg(k.conname || ' ' || pg_get_constraintdef(k.oid), ',' order by k.conname)
      from pg_constraint k where k.conrelid = c.oid),
    (select string_agg(t.tgname || t.tgenabled::text || pg_get_triggerdef(t.oid), ',' order by t.tgname)
      from pg_trigger t where t.tgrelid = c.oid and not t.tgisinternal),
    (select string_agg(concat_ws(' ', l.polname, l.polcmd, l.polpermissive, l.polroles,
        pg_get_expr(l.polqual, l.polrelid), pg_get_expr(l.polwithcheck, l.polrelid)), ',' order by l.polname)
      from pg_policy l where l.polrelid = c.oid),
    (select string_agg(concat_ws(' ', r.rulename, r.ev_enabled, r.ev_action), ',' order by r.rulename)
      from pg_rewrite r where r.ev_class = c.oid)))
from pg_class c join place p on p.oid = c.relnamespace
where c.relkind in ('r', 'p', 'v', 'm', 'S', 'c', 'f') and not c.relispartition
union all
select 'index', p.path || c.relname, p.path || t.relname, md5(pg_get_indexdef(c.oid) || i.indisvalid)
from pg_class c join place p on p.oid = c.relnamespace join pg_index i on i.indexrelid = c.oid
join pg_class t on t.oid = i.indrelid
where not c.relispartition
union all
select 'function', p.path || f.proname || '(' || pg_get_function_identity_arguments(f.oid) || ')', p.path || f.proname, md5(f::text)
from pg_proc f join place p on p.oid = f.pronamespace
union all
select 'type', p.path || y.typname, p.path || y.typname,
  md5(concat_ws('|', y.typtype, y.typowner, y.typacl, y.typbasetype, y.typnotnull, y.typdefault,
    (select string_agg(enumlabel, ',' order by enumsortorder) from pg_enum where enumtypid = y.oid),
    (select string_agg(pg_get_constraintdef(k.oid), ',' order by k.conname) from pg_constraint k where k.contypid = y.oid)))
from pg_type y join place p on p.oid = y.typnamespace where y.typtype in ('b', 'd', 'e', 'r', 'm') and y.typcategory <> 'A'
union all
select 'statistics', p.path || s.stxname, p.path || c.relname, ''
from pg_statistic_ext s join place p on p.oid = s.stxnamespace join pg_class c on c.oid = s.stxrelid
union all select 'operator', p.path || o.oprname || ' ' || o.oid, '', '' from pg_operator o join place p on p.oid = o.oprnamespace
union all select 'collation', p.path || o.collname, '', '' from pg_collation o join place p on p.oid = o.collnamespace
union all select 'text search configuration', p.path || o.cfgname, '', '' from pg_ts_config o join place p on p.oid = o.cfgnamespace
union all select 'cast', o.castsource::regtype || ' as ' || o.casttarget::regtype, '', '' from pg_cast o where o.oid >= 16384
union all select 'extension', extname, '', extversion from pg_extension
union all select 'event trigger', evtname, '', evtenabled::text from pg_event_trigger
union all select 'publication', pubname, '', '' from pg_publication
union all select 'foreign server', srvname, '', '' from pg_foreign_server
union all select 'language', lanname, '', '' from pg_language
union all select 'default privileges', oid::text, '', defaclacl::text from pg_default_acl`;

/** What of the package's own is open to tenants who should not see it. */
const OPEN = `
select c.relname as name, case
  when c.relkind in ('r', 'p') and not c.relispartition then
    case when not (c.relrowsecurity and c.relforcerowsecurity) then 'has no forced row-level security: call protect_tenant or protect_platform'
      when has_any_column_privilege('quartermaster_app', c.oid, 'select')
        and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname in ('org_id', 'partner_id') and not a.attisdropped)
        and exists (select from pg_policy l where l.polrelid = c.oid
          and l.polroles && array['quartermaster_app'::regrole::oid, 0::oid]
          and coalesce(pg_get_expr(l.polqual, l.polrelid), pg_get_expr(l.polwithcheck, l.polrelid), '')
            !~ 'app_org_ids|app_partner_id|app_owner_partner_id') then 'has a policy that does not ask for the tenant' end
  when c.relkind = 'v' then
    case when not coalesce(c.reloptions::text ~ 'security_invoker=(true|on|1)', false) then 'is a view without security_invoker' end
  when has_any_column_privilege('quartermaster_app', c.oid, 'select') then 'shows tenants what row-level security cannot limit' end as fault
from pg_class c
where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f') and starts_with(c.relname, $1)`;

async function look(client: pg.PoolClient): Promise<{ transaction: string; things: Catalog }> {
  const { rows: ids } = await client.query<{ id: string }>('select pg_catalog.pg_current_xact_id()::text as id');
  const { rows } = await client.query<Thing>(THINGS);
  return { transaction: ids[0]?.id ?? '', things: new Map(rows.map((one) => [`${one.kind} ${one.name}`, one])) };
}

const isOwn = ({ name, base }: Thing, prefix: string) => name.startsWith(prefix) && base.startsWith(prefix);

/** Before the first migration of a package no object may have its prefix, unless the prefix of another package includes it. */
async function mustBeFree(
  client: pg.PoolClient,
  packagePrefix: string,
  prefix: string,
  things: Catalog,
): Promise<void> {
  const taken = [...things].find(([, thing]) => isOwn(thing, prefix));
  if (!taken) return;
  const { rows } = await client.query(`select from migrations where owner = $1 or owner like $1 || '-%' limit 1`, [
    packagePrefix,
  ]);
  if (rows.length === 0) throw new Error(`the ${taken[0]}, which is not the package's, begins with ${prefix} too`);
}

/** What the package did to others' things, in the order of their names. */
function strays(before: Catalog, after: Catalog, prefix: string): string[] {
  const found: string[] = [];
  for (const [key, thing] of after) {
    const known = before.get(key);
    if (isOwn(thing, prefix) || known?.mark === thing.mark) continue;
    found.push(known ? `changes the ${key}` : `makes the ${key}, which does not begin with ${prefix}`);
  }
  // An index that went with its table is no news.
  const wentAlong = ({ name, base }: Thing) =>
    name !== base && before.has(`table ${base}`) && !after.has(`table ${base}`);
  for (const [key, thing] of before) {
    if (!isOwn(thing, prefix) && !after.has(key) && !wentAlong(thing)) found.push(`drops the ${key}`);
  }
  return found.sort();
}

/**
 * Called before the migration, within its transaction; what it returns, after it. That one throws for what the package may
 * not do.
 */
export async function watchCatalog(client: pg.PoolClient, packagePrefix: string): Promise<() => Promise<void>> {
  const prefix = `${packagePrefix.replaceAll('-', '_')}_`;
  const before = await look(client);
  await mustBeFree(client, packagePrefix, prefix, before.things);
  return async () => {
    const after = await look(client);
    if (after.transaction !== before.transaction) throw new Error('it ends the transaction that it runs in');
    const [stray] = strays(before.things, after.things, prefix);
    if (stray) throw new Error(`it ${stray}`);
    const { rows } = await client.query<{ name: string; fault: string | null }>(OPEN, [prefix]);
    const open = rows.find(({ fault }) => fault !== null);
    if (open) throw new Error(`${open.name} ${open.fault}`);
  };
}
