/** What a module package's migration may do, and what undoes it. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { createTestDatabase } from '#test';
import { migrate } from '../migrations.ts';
import { openDatabase } from '../pools.ts';

const store = await createTestDatabase();
const database = openDatabase({ url: store.url, poolSize: 4, onError: () => undefined });
test.after.always(async () => {
  await database.close();
  await store.drop();
});

/** Applies the statements as a package's with the prefix acme. */
async function apply(owner: string, sql: string, prefix = 'acme'): Promise<string[]> {
  const path = await mkdtemp(join(tmpdir(), 'quartermaster-guard-'));
  await writeFile(join(path, '001-first.sql'), sql);
  try {
    return await migrate(database.owner, [{ owner, path, prefix }]);
  } finally {
    await rm(path, { recursive: true });
  }
}
const closed = (name: string) => `create table ${name} (org_id uuid not null); call protect_tenant('${name}');`;

test.serial('a package makes, changes and drops what bears its name', async (t) => {
  const sql = `${closed('acme_one')} create index acme_one_org on acme_one (org_id);
    create type acme_kind as enum ('a'); alter table acme_one add column kind acme_kind, add column device_id uuid references devices (id);
    create sequence acme_numbers; create view acme_seen with (security_invoker = true) as select org_id from acme_one;
    create function acme_now() returns timestamptz language sql as 'select now()';
    create function acme_touch() returns trigger language plpgsql as 'begin return new; end';
    create trigger touch before update on acme_one for each row execute function acme_touch();`;
  t.deepEqual(await apply('acme-a', sql), ['acme-a/001-first.sql']);
  t.deepEqual(
    await apply(
      'acme-b',
      `alter table acme_one add column note text; drop view acme_seen; drop type acme_kind cascade;`,
    ),
    ['acme-b/001-first.sql'],
  );
});

const REFUSED: Record<string, [string, RegExp]> = {
  'a table of another name': ['create table things (id int)', /makes the table things/],
  'a table whose name only begins alike': ['create table acmes (id int)', /makes the table acmes/],
  'an index of another name on its own table': [
    `${closed('acme_t')} create index by_org on acme_t (org_id)`,
    /makes the index by_org/,
  ],
  "an index on others' table": ['create index acme_names on devices (hostname)', /makes the index acme_names/],
  'a function of another name': [
    `create function pick() returns int language sql as 'select 1'`,
    /makes the function pick\(\)/,
  ],
  'a type of another name': [`create domain short as text`, /makes the type short/],
  'a sequence of another name': ['create sequence numbers', /makes the sequence numbers/],
  'a schema': ['create schema acme_own', /makes the schema acme_own/],
  'an extension': ['create extension if not exists tablefunc', /makes the (extension tablefunc|function connectby)/],
  "a column of others' table": ['alter table sites add column acme_x int', /changes the table sites/],
  "a trigger on others' table": [
    `create function acme_t() returns trigger language plpgsql as 'begin return new; end';
     create trigger acme_t before update on sites for each row execute function acme_t()`,
    /changes the table sites/,
  ],
  "a policy on others' table": ['create policy acme_all on devices using (true)', /changes the table devices/],
  "a right on others' table": ['grant select on users to public', /changes the table users/],
  "others' table without row-level security": [
    'alter table sites no force row level security',
    /changes the table sites/,
  ],
  "others' function": [
    `create or replace function app_org_ids() returns uuid[] language sql as 'select null::uuid[]'`,
    /changes the function app_org_ids/,
  ],
  "dropping others' table": ['drop table worker_nodes', /drops the table worker_nodes/],
  'a table that is open': ['create table acme_open (id int)', /acme_open has no forced row-level security/],
  'a policy that forgets the tenant': [
    `${closed('acme_p')} create policy acme_all on acme_p for select to quartermaster_app using (true)`,
    /acme_p has a policy that does not ask for the tenant/,
  ],
  "a view that looks with its owner's eyes": [
    'create view acme_v as select * from devices',
    /acme_v is a view without security_invoker/,
  ],
  'a copy that tenants may read': [
    'create materialized view acme_m as select id from devices; grant select on acme_m to quartermaster_app',
    /acme_m shows tenants/,
  ],
  'the end of its transaction': [`${closed('acme_c')} commit; begin`, /ends the transaction/],
};

for (const [title, [sql, sentence]] of Object.entries(REFUSED)) {
  test.serial(`refused and undone: ${title}`, async (t) => {
    const names = async () => (await database.owner.query('select count(*)::int as n from pg_class')).rows[0].n;
    const before = await names();
    const error = await t.throwsAsync(apply('acme-refused', sql));
    t.regex(error?.message ?? '', sentence);
    t.regex(error?.message ?? '', /^Migration acme-refused\/001-first\.sql failed: /);
    // What ends its transaction cannot be undone; it is said all the same.
    if (!sql.includes('commit')) t.is(await names(), before);
    const { rows } = await database.owner.query(`select from migrations where owner = 'acme-refused'`);
    t.is(rows.length, 0);
  });
}

test.serial('partitions that somebody makes meanwhile are nobody’s fault', async (t) => {
  const sql = `${closed('acme_late')} select ensure_daily_partitions('agent_logs', 30);`;
  t.deepEqual(await apply('acme-late', sql), ['acme-late/001-first.sql']);
});

test.serial('a prefix that names of the server begin with is refused', async (t) => {
  const error = await t.throwsAsync(apply('api-x', closed('api_x'), 'api'));
  t.regex(error?.message ?? '', /the (index|table) api_\w+, which is not the package's, begins with api_ too/);
});
