/** Several people at the same roles at once. */
import test from 'ava';
import pg from 'pg';
import { orgUser, ROLES } from '#test';
import { call, make, pairs, place, platform, somebodyWaits } from './arrange.ts';

const sorted = (answers: { status: number }[]) => answers.map(({ status }) => status).sort();
const ROUNDS = 8;

/** A transaction of somebody else's, open until `end`. */
async function meanwhile(statement: string, values: unknown[]) {
  const client = new pg.Client({ connectionString: platform.databaseUrl });
  await client.connect();
  await client.query('begin');
  await client.query(statement, values);
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return {
    blocks: () => somebodyWaits(rows[0]?.pid ?? 0),
    async end(how: 'commit' | 'rollback') {
      await client.query(how);
      await client.end();
    },
  };
}

test('of two roles made with one name at once, one is', async (t) => {
  const { orgAdmin, partner, orgId } = await place();
  for (let n = 0; n < ROUNDS; n += 1) {
    const answers = await Promise.all([
      call('POST', '', orgAdmin, { name: `Role ${n}` }),
      call('POST', '', partner, { name: `role ${n}`, orgId }),
    ]);
    t.deepEqual(sorted(answers), [201, 409]);
    t.true(answers.some(({ body }) => body.error?.code === 'NAME_TAKEN'));
  }
});

test('two changes that together would make a circle: one of them is refused', async (t) => {
  const { orgAdmin, partner } = await place();
  for (let n = 0; n < ROUNDS; n += 1) {
    const [a, b] = await Promise.all([make(orgAdmin, `A ${n}`), make(orgAdmin, `B ${n}`)]);
    const answers = await Promise.all([
      call('PATCH', `/${a.id}`, orgAdmin, { parentRoleId: b.id }),
      call('PATCH', `/${b.id}`, partner, { parentRoleId: a.id }),
    ]);
    t.deepEqual(sorted(answers), [200, 400]);
    t.true(answers.some(({ body }) => body.error?.code === 'ROLE_CYCLE'));
  }
});

test('the limit of a tenant holds when several are made at once', async (t) => {
  const { orgId, orgAdmin } = await place();
  await platform.sql(
    `insert into roles (org_id, scope, name) select $1, 'organization', 'Role ' || n from generate_series(1, 198) n`,
    [orgId],
  );
  const answers = await Promise.all(
    Array.from({ length: 5 }, (_, n) => call('POST', '', orgAdmin, { name: `At once ${n}` })),
  );
  t.deepEqual(sorted(answers), [201, 201, 409, 409, 409]);
});

test('a role removed twice at once is removed once', async (t) => {
  const { orgId, orgAdmin, partner } = await place();
  for (let n = 0; n < ROUNDS; n += 1) {
    const role = await make(orgAdmin, 'Once');
    const answers = await Promise.all([
      call('DELETE', `/${role.id}`, orgAdmin),
      call('DELETE', `/${role.id}`, partner),
    ]);
    t.deepEqual(sorted(answers), [200, 404]);
  }
  t.is((await platform.audits({ action: 'role.delete', orgId })).length, ROUNDS);
});

test('a change against a removal: the change comes first, or finds nothing', async (t) => {
  const { orgAdmin, partner } = await place();
  for (let n = 0; n < ROUNDS; n += 1) {
    const role = await make(orgAdmin, 'Contested');
    const [changed, removed] = await Promise.all([
      call('PATCH', `/${role.id}`, orgAdmin, { permissions: pairs('sites:view', 'users:view') }),
      call('DELETE', `/${role.id}`, partner),
    ]);
    t.is(removed.status, 200);
    t.true([200, 404].includes(changed.status));
    t.is((await call('GET', `/${role.id}`, orgAdmin)).status, 404);
  }
});

test('a removal waits for whoever is giving the role to somebody, and then counts them', async (t) => {
  const { orgId, orgAdmin, viewer } = await place();
  const role = await make(orgAdmin, 'Being given');
  const giving = await meanwhile('update organization_users set role_id = $1 where user_id = $2 and org_id = $3', [
    role.id,
    viewer.id,
    orgId,
  ]);
  const removal = call('DELETE', `/${role.id}`, orgAdmin);
  await giving.blocks();
  await giving.end('commit');
  const { status, body } = await removal;
  t.is(`${status} ${body.error.code}`, '400 ROLE_IN_USE');
  t.like(body.error.details, [{ users: 1, children: 0 }]);
});

test('a removal goes on when the role is not given after all', async (t) => {
  const { orgAdmin, viewer } = await place();
  const role = await make(orgAdmin, 'Nearly given');
  const giving = await meanwhile('update organization_users set role_id = $1 where user_id = $2', [role.id, viewer.id]);
  const removal = call('DELETE', `/${role.id}`, orgAdmin);
  await giving.blocks();
  await giving.end('rollback');
  t.is((await removal).status, 200);
});

test('changing a role does not wait for whoever is giving it to somebody', async (t) => {
  const { orgAdmin, viewer } = await place();
  const role = await make(orgAdmin, 'Popular');
  const giving = await meanwhile('update organization_users set role_id = $1 where user_id = $2', [role.id, viewer.id]);
  t.is((await call('PATCH', `/${role.id}`, orgAdmin, { name: 'More popular' })).status, 200);
  await giving.end('commit');
});

test('two changes that would each take one of the last two administrators: one of them is refused', async (t) => {
  const { orgId, orgAdmin, partner } = await place();
  for (let n = 0; n < ROUNDS; n += 1) {
    const [a, b] = await Promise.all([
      make(orgAdmin, `Admins A ${n}`, { parentRoleId: ROLES.orgAdmin }),
      make(orgAdmin, `Admins B ${n}`, { parentRoleId: ROLES.orgAdmin }),
    ]);
    const other = await orgUser(platform, { orgId, roleId: b.id });
    await platform.sql('update organization_users set role_id = $2 where user_id = $1', [orgAdmin.id, a.id]);
    const answers = await Promise.all([
      call('PATCH', `/${a.id}`, partner, { parentRoleId: null }),
      call('PATCH', `/${b.id}`, partner, { parentRoleId: null }),
    ]);
    t.deepEqual(sorted(answers), [200, 409]);
    await platform.sql('delete from organization_users where user_id = $1', [other.id]);
    await platform.sql('update organization_users set role_id = $2 where user_id = $1', [orgAdmin.id, ROLES.orgAdmin]);
  }
});
