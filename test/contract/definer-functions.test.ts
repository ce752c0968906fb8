/** Functions of the database that run as its owner and that tenants' work may call: row-level security does not hold them. */
import test from 'ava';
import { sharedPlatform, tenant } from '#test';

const platform = await sharedPlatform();
test.after.always(() => platform.stop());

interface Definer {
  name: string;
  source: string;
  reason: string | null;
  config: string[] | null;
}

/** Announced by the unit of work, and the tests that are made of them. */
const COMPARES = /\bapp_(org_ids|partner_id|reaches|must_reach)\b/;
/** A reason is a comment on the function. */
const REASON = /^any tenant: \S.{20,}/;

let definers: Definer[] = [];
test.before(async () => {
  definers = await platform.sql<Definer>(
    `select p.oid::regprocedure::text as name, p.prosrc as source, obj_description(p.oid, 'pg_proc') as reason,
     p.proconfig as config
   from pg_proc p
   where p.prosecdef and p.pronamespace = 'public'::regnamespace and p.prorettype <> 'trigger'::regtype
     and has_function_privilege('quartermaster_app', p.oid, 'execute') order by 1`,
  );
});
const names = (wanted: (one: Definer) => boolean) => definers.filter(wanted).map(({ name }) => name);

test('what tenants may call as the owner compares with what the work reaches, or says why it need not', (t) => {
  t.true(definers.length > 5);
  t.deepEqual(
    names(({ source, reason }) => !COMPARES.test(source) && !REASON.test(reason ?? '')),
    [],
    "use app_must_reach() or app_org_ids(), or: comment on function … is 'any tenant: <reason>'",
  );
});

test('a reason stands only where nothing is compared', (t) => {
  t.deepEqual(
    names(({ source, reason }) => COMPARES.test(source) && REASON.test(reason ?? '')),
    [],
  );
});

test('they find their tables by a search path of their own', (t) => {
  t.deepEqual(
    names(({ config }) => !config?.some((setting) => setting.startsWith('search_path=public'))),
    [],
  );
});

test('they refuse or leave out what a tenant asks about organizations of others', async (t) => {
  const [mine, theirs] = await Promise.all([tenant(platform), tenant(platform)]);
  /** As the tenants' role with the announcement of an organization user; nothing stays. */
  const asTenant = (expression: string) =>
    platform.sql(
      `do $do$ begin
         perform set_config('role', 'quartermaster_app', true), set_config('app.org_ids', '{${mine.orgId}}', true),
           set_config('app.owner_partner_id', '${mine.partnerId}', true);
         perform ${expression};
         raise exception 'not refused';
       end $do$`,
    );
  const effects = (kind: string, entry: object) => `flush_effects('${JSON.stringify({ [kind]: [entry] })}'::jsonb)`;
  const orgId = theirs.orgId;
  const rows = `'[{"id": "${orgId}", "org_id": "${orgId}", "kind": "x", "body": "{}"}]'::jsonb`;
  for (const statement of [
    effects('audits', { orgId }),
    effects('audits', { orgId: null, partnerId: theirs.partnerId }),
    effects('events', { id: orgId, name: 'x', orgId, data: {} }),
    effects('jobs', { task: 'x/y', payload: { orgId } }),
    `webhook_fan_out(${rows})`,
    `plugin_fan_out(${rows})`,
    `mark_devices_dirty('${orgId}', '{}', '{}')`,
  ]) {
    await t.throwsAsync(asTenant(statement), { message: /this work does not reach the/ }, statement);
  }
  const own = effects('audits', { orgId: mine.orgId, partnerId: mine.partnerId });
  await t.throwsAsync(asTenant(own), { message: 'not refused' });
  const count = `1 / count_organizations('${theirs.partnerId}')`;
  await t.throwsAsync(asTenant(count), { message: 'division by zero' }, 'none are counted');
});
