/** The audit trail through the API: reading, reach, and what happens to those who tamper. */
import test from 'ava';
import { type ErrorBody, organization, partnerUser, sharedPlatform, systemUser, type Tenant, tenant } from '#test';

interface Entry {
  id: string;
  action: string;
  orgId: string | null;
  user: { email: string; role: string };
  resource: { type: string; name: string };
}
interface Page {
  data: Entry[];
  pagination: { total?: number; hasMore?: boolean; cursor?: string | null };
}
interface Verdict {
  data: { owner: string; checked: number; ok: boolean; firstBad: { id: string; problem: string } | null };
}
const platform = await sharedPlatform();
test.after.always(() => platform.stop());

const list = (token: string, query = '') =>
  platform.call<Page & ErrorBody>('GET', `/audit-logs/logs?${query}`, { token });
const verify = (token: string, query = '') =>
  platform.call<Verdict & ErrorBody>('GET', `/audit-logs/verify?${query}`, { token });

/** Three entries of one organization and one of its partner. */
async function busy(): Promise<Tenant> {
  const made = await tenant(platform);
  const { token } = made.partner;
  const site = await platform.call<{ id: string }>('POST', '/orgs/sites', {
    token,
    body: { orgId: made.orgId, name: '100% Harbour' },
  });
  const path = `/orgs/sites/${site.body.id}`;
  await platform.call('PATCH', path, { token, body: { timezone: 'UTC' } });
  await platform.call('DELETE', path, { token: made.orgAdmin.token });
  await platform.call('PATCH', '/orgs/partners/me', { token, body: { settings: { language: 'en' } } });
  await platform.settle();
  return made;
}

test('what was done appears newest first, with who did it and in which role', async (t) => {
  const { orgAdmin, orgId } = await busy();
  const { body } = await list(orgAdmin.token);
  t.deepEqual(
    body.data.map((entry) => entry.action),
    ['site.delete', 'site.update', 'site.create'],
  );
  t.like(body, { pagination: { page: 1, limit: 50, total: 3 } });
  const [entry] = body.data;
  t.like(entry, {
    orgId,
    user: { id: orgAdmin.id, email: orgAdmin.email, role: 'Organization Admin' },
    resource: { type: 'site', name: '100% Harbour' },
    category: 'system',
    result: 'success',
  });
  const one = await platform.call<{ data: Entry }>('GET', `/audit-logs/logs/${entry?.id}`, { token: orgAdmin.token });
  t.deepEqual(one.body.data, entry);
});

test('the filters narrow the list, and wildcards in them stand for themselves', async (t) => {
  const { orgAdmin, orgId, partner } = await busy();
  const { token } = partner;
  const actions = async (query: string) => (await list(token, query)).body.data.map((entry) => entry.action);
  t.deepEqual(await actions(`orgId=${orgId}&action=UPDATE`), ['site.update']);
  t.deepEqual(await actions(`user=${orgAdmin.email.toUpperCase()}`), ['site.delete']);
  t.is((await actions('resource=100%25')).length, 3);
  t.is((await actions('resource=_00')).length, 0);
  const middle = (await list(token, 'action=site.update')).body.data[0] as Entry & { timestamp: string };
  t.deepEqual(await actions(`from=${middle.timestamp}&to=${middle.timestamp}`), ['site.update']);
  const bare = await list(token, 'skipCount=true&limit=2&page=2');
  t.is(bare.body.data.length, 2);
  t.deepEqual(bare.body.pagination, { page: 2, limit: 2 } as object);
  const bad = await list(token, 'from=yesterday');
  t.is(bad.body.error.details[0]?.path, 'from');
});

test('the cursor form walks every entry once', async (t) => {
  const { partner } = await busy();
  const seen: string[] = [];
  let cursor: string | null | undefined = '';
  while (typeof cursor === 'string') {
    const { body } = await list(partner.token, `limit=1&cursor=${cursor}`);
    seen.push(...body.data.map((entry) => entry.action));
    cursor = body.pagination.cursor;
  }
  t.deepEqual(seen, ['partner.settings.update', 'site.delete', 'site.update', 'site.create']);
});

test('a partner sees its organizations and its own rows, an organization only itself, nobody another tenant', async (t) => {
  const mine = await busy();
  const theirs = await busy();
  const all = (await list(mine.partner.token)).body.data;
  t.deepEqual([...new Set(all.map((entry) => entry.orgId))], [null, mine.orgId]);
  const own = (await list(mine.orgAdmin.token)).body.data;
  t.true(own.every((entry) => entry.orgId === mine.orgId));
  const foreign = `/audit-logs/logs/${all.at(-1)?.id}`;
  t.is((await platform.call('GET', foreign, { token: theirs.partner.token })).status, 404);
  t.is((await list(theirs.partner.token, `orgId=${mine.orgId}`)).status, 403);
  const partnerRow = `/audit-logs/logs/${all[0]?.id}`;
  t.is((await platform.call('GET', partnerRow, { token: mine.orgAdmin.token })).status, 404);
  const other = await organization(platform, mine.partnerId);
  const limited = await partnerUser(platform, {
    partnerId: mine.partnerId,
    roleId: mine.partnerRoleId,
    orgAccess: 'selected',
    orgIds: [other.orgId],
  });
  t.deepEqual(
    (await list(limited.token)).body.data.map((entry) => entry.orgId),
    [null],
  );
});

test('a role without the permission is refused', async (t) => {
  const { viewer, orgId } = await busy();
  await platform.sql(
    'delete from role_permissions where role_id = (select role_id from organization_users where user_id = $1) and permission_id = (select id from permissions where resource = $2 and action = $3)',
    [viewer.id, 'settings', 'view'],
  );
  t.is((await list(viewer.token)).status, 403);
  t.is((await verify(viewer.token, `orgId=${orgId}`)).status, 403);
});

test('verify finds an altered row, names it, and leaves other chains alone', async (t) => {
  const [mine, theirs] = [await busy(), await busy()];
  t.like((await verify(mine.orgAdmin.token)).body.data, { owner: `org:${mine.orgId}`, checked: 3, ok: true });
  t.like((await verify(mine.partner.token)).body.data, { owner: `partner:${mine.partnerId}`, checked: 1, ok: true });
  const victim = (await list(mine.orgAdmin.token, 'action=site.update')).body.data[0];
  await tamper(`update audit_logs set actor_email = 'someone@else.example' where id = '${victim?.id}'`);
  const found = await verify(mine.partner.token, `orgId=${mine.orgId}`);
  t.like(found.body.data, { ok: false, firstBad: { id: victim?.id, problem: 'altered' } });
  const { token } = await systemUser(platform);
  t.true((await verify(token, `orgId=${theirs.orgId}`)).body.data.ok);
  t.is((await verify(theirs.partner.token, `orgId=${mine.orgId}`)).status, 403);
});

test('verify finds a removed row in the middle, a cut end, and a chain whose head was taken away', async (t) => {
  const [middle, end, headless] = [await busy(), await busy(), await busy()];
  await tamper(`delete from audit_logs where owner = 'org:${middle.orgId}' and seq = 2`);
  t.is((await verify(middle.orgAdmin.token)).body.data.firstBad?.problem, 'missing before');
  await tamper(`delete from audit_logs where owner = 'org:${end.orgId}' and seq = 3`);
  t.is((await verify(end.orgAdmin.token)).body.data.firstBad?.problem, 'cut off');
  await tamper(`delete from audit_heads where owner = 'org:${headless.orgId}'`);
  t.is((await verify(headless.orgAdmin.token)).body.data.firstBad?.problem, 'cut off');
});

test('no role changes, removes or empties the trail, not even the superuser', async (t) => {
  const { orgId } = await busy();
  for (const role of ['quartermaster_app', 'quartermaster_platform', null]) {
    for (const change of [
      `update audit_logs set action = 'x' where org_id = '${orgId}'`,
      `delete from audit_logs where org_id = '${orgId}'`,
      'truncate audit_logs',
    ]) {
      const expected = { message: role ? /permission denied/ : /append-only/ };
      await t.throwsAsync(
        platform.sql(`${role ? `set local role ${role};` : ''} ${change}`),
        expected,
        `${role} ${change}`,
      );
    }
  }
  t.is((await platform.audits({ orgId })).length, 3);
});

/** What an attacker with the superuser's password does; one implicit transaction. */
const tamper = (change: string) =>
  platform.sql(
    `alter table audit_logs disable trigger audit_logs_append_only; ${change};
     alter table audit_logs enable always trigger audit_logs_append_only`,
  );
