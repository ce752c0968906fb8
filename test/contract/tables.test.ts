/** What must hold for every table, whoever made it. */
import test from 'ava';
import { startTestPlatform } from '#test';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const TENANT_COLUMNS = ['org_id', 'partner_id'];
const ours = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'migrations'`;

test('every table has forced row-level security', async (t) => {
  const open = await platform.sql(
    `select relname from pg_class c where ${ours} and not (relrowsecurity and relforcerowsecurity)`,
  );
  t.deepEqual(open, []);
});

test('no role of the application may bypass row-level security or own a table', async (t) => {
  const roles = await platform.sql(
    `select rolname from pg_roles r where rolname like 'quartermaster\\_%' and (rolbypassrls or rolsuper or rolcanlogin
       or exists (select from pg_class c where c.relowner = r.oid))`,
  );
  t.deepEqual(roles, []);
});

test('what the tenant role may read of a table with a tenant column is limited by the announced tenant', async (t) => {
  const policies = await platform.sql<{ tablename: string; qual: string | null; with_check: string | null }>(
    `select p.tablename, p.qual, p.with_check from pg_policies p where 'quartermaster_app' = any(p.roles) and exists (
       select from information_schema.columns k where k.table_name = p.tablename and k.column_name = any($1))
     and p.policyname <> 'built_in'`,
    [TENANT_COLUMNS],
  );
  t.true(policies.length > 10);
  for (const { tablename, qual, with_check } of policies) {
    for (const condition of [qual, with_check]) {
      if (condition) t.regex(condition, /app_org_ids|app_partner_id|app_owner_partner_id/, tablename);
    }
  }
});

test('without an announced tenant the tenant role sees no row of any tenant table', async (t) => {
  const tables = await platform.sql<{ relname: string }>(
    `select c.relname from pg_class c where ${ours} and has_table_privilege('quartermaster_app', c.oid, 'select')
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = any($1))`,
    [TENANT_COLUMNS],
  );
  t.true(tables.length >= 5);
  const { app } = platform.platform.tasks.work.database;
  for (const { relname } of tables) {
    const { rows } = await app.query(
      `select count(*)::int as n from ${relname}${relname === 'roles' ? ' where not is_system' : ''}`,
    );
    t.is(rows[0].n, 0, relname);
  }
});

test('partitions cannot be reached past their table', async (t) => {
  const open = await platform.sql(
    `select c.relname, r.rolname from pg_class c, pg_roles r where c.relispartition and c.relkind = 'r'
       and r.rolname in ('quartermaster_app', 'quartermaster_platform') and has_table_privilege(r.oid, c.oid, 'select')`,
  );
  t.deepEqual(open, []);
});

test('every foreign key to rows that are really deleted is served by an index', async (t) => {
  const bare = await platform.sql(
    `select k.conrelid::regclass::text as tab, k.conname from pg_constraint k
     where k.contype = 'f' and k.connamespace = 'public'::regnamespace and k.conparentid = 0
       and k.confrelid::regclass::text not in ('permissions', 'partners', 'organizations', 'roles')
       and not exists (select from pg_index i where i.indrelid = k.conrelid and i.indkey[0] = any(k.conkey))`,
  );
  t.deepEqual(bare, [], 'deleting the parent would scan these tables');
});
