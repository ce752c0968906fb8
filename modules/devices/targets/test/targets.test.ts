/** Who a target is for: every type, exclusions, limits of callers and authors, and sets that stay as they were. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { AppError, type Target } from '#core';
import { runUnitOfWork } from '#core/work';
import {
  apiKey,
  type ErrorBody,
  organization,
  orgUser,
  type Person,
  startTestPlatform,
  type Tenant,
  tenant,
} from '#test';
import { type Context, NOBODY } from '../../../../core/context/index.ts';
import { organizationScope } from '../../../../core/jobs/task.ts';
import type { TargetPreview } from '../models/resolved.ts';
import { MAX_DEVICES } from '../services/frozen.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());
const { work, log } = platform.platform.tasks;

/** As a job of the organization works. */
const inOrg = <T>({ orgId, partnerId }: Pick<Tenant, 'orgId' | 'partnerId'>, run: (ctx: Context) => Promise<T>) =>
  runUnitOfWork(
    work,
    { actor: NOBODY, scope: organizationScope(orgId, partnerId), requestId: 'test', log, role: 'app' },
    run,
  );
const ownerOf = ({ orgId }: Pick<Tenant, 'orgId'>) => ({ orgId, partnerId: null });

interface Made {
  siteId?: string;
  lifecycle?: string;
  tags?: string[];
}
async function device(at: { orgId: string; siteId: string }, hostname: string, more: Made = {}): Promise<string> {
  const { siteId = at.siteId, lifecycle = 'active', tags = [] } = more;
  const [row] = await platform.sql<{ id: string }>(
    `with made as (
       insert into devices (org_id, site_id, hostname, os_type, lifecycle, tags, decommissioned_at)
       values ($1, $2, $3, 'linux', $4, $5, case when $4 = 'decommissioned' then now() end) returning id),
     state as (insert into device_state (device_id, org_id) select id, $1 from made)
     select id from made`,
    [at.orgId, siteId, hostname, lifecycle, tags],
  );
  return row?.id ?? '';
}
async function site(orgId: string): Promise<string> {
  const rows = await platform.sql<{ id: string }>(`insert into sites (org_id, name) values ($1, $2) returning id`, [
    orgId,
    `site ${randomUUID().slice(0, 8)}`,
  ]);
  return rows[0]?.id ?? '';
}
async function group(orgId: string, members: string[]): Promise<string> {
  const rows = await platform.sql<{ id: string }>(
    `with made as (insert into device_groups (org_id, name, type) values ($1, $2, 'static') returning id),
     kept as (insert into device_group_members (group_id, device_id, org_id, added_by) select made.id, m, $1, 'manual' from made, unnest($3::uuid[]) m)
     select id from made`,
    [orgId, `group ${randomUUID().slice(0, 8)}`, members],
  );
  return rows[0]?.id ?? '';
}
const ask = ({ token }: Person, target: object, more: object = {}) =>
  platform.call<{ data: TargetPreview } & ErrorBody>('POST', '/targets/preview', { token, body: { target, ...more } });
const names = async (person: Person, target: object, more: object = {}) => {
  const { status, body } = await ask(person, target, more);
  return status === 200 ? body.data.devices.map(({ hostname }) => hostname) : body.error.code;
};

/** Four active devices in two sites, one of each other state, a group and tags. */
async function open() {
  const at = await tenant(platform);
  const second = await site(at.orgId);
  const a = await device(at, 'a', { tags: ['web'] });
  const b = await device(at, 'b', { tags: ['web', 'old'] });
  const c = await device(at, 'c', { siteId: second });
  const d = await device(at, 'd', { siteId: second });
  for (const lifecycle of ['decommissioned', 'pending', 'quarantined'])
    await device(at, `x-${lifecycle}`, { lifecycle });
  const groupId = await group(at.orgId, [b, c]);
  return { ...at, second, a, b, c, d, groupId };
}

test('every type of target names its devices, and only active ones are targets', async (t) => {
  const at = await open();
  const person = at.orgAdmin;
  t.deepEqual(await names(person, { type: 'all' }), ['a', 'b', 'c', 'd']);
  t.deepEqual(await names(person, { type: 'organizations', ids: [at.orgId] }), ['a', 'b', 'c', 'd']);
  t.deepEqual(await names(person, { type: 'sites', ids: [at.second] }), ['c', 'd']);
  t.deepEqual(await names(person, { type: 'groups', ids: [at.groupId] }), ['b', 'c']);
  t.deepEqual(await names(person, { type: 'tags', tags: [' WEB '] }), ['a', 'b'], 'tags as they are stored');
  t.deepEqual(await names(person, { type: 'devices', ids: [at.a, at.d] }), ['a', 'd']);
  const filter = {
    operator: 'OR',
    conditions: ['a', 'c'].map((value) => ({ field: 'hostname', operator: 'equals', value })),
  };
  t.deepEqual(await names(person, { type: 'filter', filter }), ['a', 'c']);
  const { body } = await ask(person, { type: 'all', exclude: { deviceIds: [at.a] } });
  t.is(body.data.count, 3);
  t.deepEqual(body.data.skipped, { excluded: 1, decommissioned: 1, pending: 1, quarantined: 1 });
});

test('exclusions by device, site, group and tag add up', async (t) => {
  const at = await open();
  const without = (exclude: object) => names(at.orgAdmin, { type: 'all', exclude });
  t.deepEqual(await without({ siteIds: [at.second] }), ['a', 'b']);
  t.deepEqual(await without({ groupIds: [at.groupId] }), ['a', 'd']);
  t.deepEqual(await without({ tags: ['old'] }), ['a', 'c', 'd']);
  t.deepEqual(await without({ tags: ['old'], deviceIds: [at.d], siteIds: [at.siteId] }), ['c']);
});

test('ids that the owner does not have are refused with the list of them', async (t) => {
  const [at, other] = [await open(), await open()];
  for (const [type, own, foreign] of [
    ['sites', at.second, other.second],
    ['groups', at.groupId, other.groupId],
    ['devices', at.a, other.a],
    ['organizations', at.orgId, other.orgId],
  ] as const) {
    const { status, body } = await ask(at.orgAdmin, { type, ids: [own, foreign] });
    t.is(status, 400, type);
    t.is(body.error.code, 'FOREIGN_TARGETS');
    t.deepEqual(body.error.details, [{ in: 'payload', path: 'target.ids', ids: [foreign], count: 1 }]);
  }
  const { body } = await ask(at.orgAdmin, { type: 'all', exclude: { groupIds: [other.groupId] } });
  t.like(body.error, { code: 'FOREIGN_TARGETS' });
  t.like(body.error.details[0], { path: 'target.exclude.groupIds', ids: [other.groupId] });
  t.is((await ask(at.orgAdmin, { type: 'all' }, { orgId: other.orgId })).status, 403);
});

test('faults have the path at which they lie', async (t) => {
  const at = await open();
  const filter = { operator: 'AND', conditions: [{ field: 'nothing', operator: 'equals', value: 1 }] };
  const WRONG: [object, string][] = [
    [{ type: 'sites' }, 'target'],
    [{ type: 'all', ids: [at.a] }, 'target.ids'],
    [{ type: 'tags', tags: [] }, 'target.tags'],
    [{ type: 'filter' }, 'target'],
    [{ type: 'some' }, 'target.type'],
    [{ type: 'all', exclude: {} }, 'target.exclude'],
    [{ type: 'filter', filter }, 'target.filter.conditions.0.field'],
  ];
  for (const [target, path] of WRONG) {
    const { status, body } = await ask(at.orgAdmin, target);
    t.is(status, 400, JSON.stringify(target));
    t.is((body.error.details[0] as { path: string }).path, path);
  }
});

test('a saved filter is copied: what it becomes later does not count', async (t) => {
  const at = await open();
  const conditions = { operator: 'AND', conditions: [{ field: 'hostname', operator: 'equals', value: 'a' }] };
  const saved = await platform.call<{ id: string }>('POST', '/filters', {
    token: at.orgAdmin.token,
    body: { name: 'A', conditions },
  });
  const filterId = saved.body.id;
  const checked = await inOrg(at, (ctx) => ctx.use('targets').checkTarget({ type: 'filter', filterId }, ownerOf(at)));
  await platform.sql(
    `update saved_filters set conditions = replace(conditions::text, '"a"', '"b"')::jsonb where id = $1`,
    [filterId],
  );
  t.deepEqual(checked, { type: 'filter', filterId, filter: conditions });
  const found = await inOrg(at, (ctx) => ctx.use('targets').resolve(checked, ownerOf(at)));
  t.deepEqual(
    found.map(({ id }) => id),
    [at.a],
  );
  t.is((await ask((await open()).orgAdmin, { type: 'filter', filterId })).status, 404, 'of another tenant');
});

test('callers limited to sites or groups see and name only what lies within', async (t) => {
  const at = await open();
  const inSite = await orgUser(platform, { orgId: at.orgId, siteIds: [at.second] });
  const inGroup = await orgUser(platform, { orgId: at.orgId, deviceGroupIds: [at.groupId] });
  t.deepEqual(await names(inSite, { type: 'sites', ids: [at.second] }), ['c', 'd']);
  t.deepEqual(await names(inSite, { type: 'devices', ids: [at.c] }), ['c']);
  t.deepEqual(await names(inGroup, { type: 'groups', ids: [at.groupId] }), ['b', 'c']);
  for (const [person, target] of [
    [inSite, { type: 'all' }],
    [inSite, { type: 'sites', ids: [at.siteId] }],
    [inSite, { type: 'devices', ids: [at.a, at.c] }],
    [inSite, { type: 'groups', ids: [at.groupId] }],
    [inGroup, { type: 'sites', ids: [at.second] }],
    [inGroup, { type: 'tags', tags: ['web'] }],
  ] as const)
    t.is(await names(person, target), 'TARGET_OUT_OF_SCOPE', JSON.stringify(target));
});

test('a partner’s target is for all of its organizations, and only its people with access to all may ask', async (t) => {
  const at = await open();
  const sibling = await organization(platform, at.partnerId);
  await device(sibling, 'e');
  const stranger = await open();
  const more = { partnerId: at.partnerId };
  t.deepEqual(await names(at.partner, { type: 'all' }, more), ['a', 'b', 'c', 'd', 'e']);
  t.deepEqual(await names(at.partner, { type: 'organizations', ids: [sibling.orgId] }, more), ['e']);
  t.is(await names(at.partner, { type: 'organizations', ids: [stranger.orgId] }, more), 'FOREIGN_TARGETS');
  t.is(await names(at.partner, { type: 'all' }), 'ORG_REQUIRED');
  for (const person of [at.orgAdmin, stranger.partner]) t.is((await ask(person, { type: 'all' }, more)).status, 404);
});

const reached = (at: Awaited<ReturnType<typeof open>>, author: object) =>
  inOrg(at, (ctx) => ctx.use('targets').resolve({ type: 'all' }, ownerOf(at), author)).then(
    (found) => found.length,
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

test('what runs unattended reaches what its author reaches now, and fails when that is lost', async (t) => {
  const at = await open();
  const limited = await orgUser(platform, { orgId: at.orgId, siteIds: [at.second] });
  t.is(await reached(at, { userId: limited.id }), 2);
  t.is(await reached(at, { userId: at.orgAdmin.id }), 4);
  t.is(await reached(at, { userId: at.partner.id }), 4);
  t.is(await reached(at, {}), 4, 'of the server itself');
  await platform.sql('update organization_users set site_ids = $2 where user_id = $1', [limited.id, [at.siteId]]);
  t.is(await reached(at, { userId: limited.id }), 2, 'another site from now on');
  await platform.sql(`update users set status = 'disabled' where id = $1`, [limited.id]);
  t.is(await reached(at, { userId: limited.id }), 'OWNER_ACCESS_LOST');
  await platform.sql(`update partner_users set org_access = 'none' where user_id = $1`, [at.partner.id]);
  t.is(await reached(at, { userId: at.partner.id }), 'OWNER_ACCESS_LOST');
  const stranger = await open();
  t.is(await reached(at, { userId: stranger.orgAdmin.id }), 'OWNER_ACCESS_LOST');
  await apiKey(platform, { orgId: at.orgId, scopes: ['devices:read'], createdBy: at.orgAdmin.id });
  const [key] = await platform.sql<{ id: string }>('select id from api_keys where org_id = $1', [at.orgId]);
  const id = key?.id;
  t.is(await reached(at, { apiKeyId: id }), 4);
  t.is(await reached(stranger, { apiKeyId: id }), 'OWNER_ACCESS_LOST');
  await platform.sql(`update api_keys set status = 'revoked' where id = $1`, [id]);
  t.is(await reached(at, { apiKeyId: id }), 'OWNER_ACCESS_LOST');
});

test('a frozen set stays as it was, also when it is frozen again, and no other tenant reads it', async (t) => {
  const at = await open();
  const run = { kind: 'automations.run', runId: randomUUID() };
  const target: Target = { type: 'groups', ids: [at.groupId] };
  const freeze = () => inOrg(at, (ctx) => ctx.use('targets').freeze(run, target, ownerOf(at)));
  const read = (who: Pick<Tenant, 'orgId' | 'partnerId'>, after: string | null = null, limit = 100) =>
    inOrg(who, (ctx) => ctx.use('targets').frozenDevices(run, { after, limit }));
  t.is(await freeze(), 2);
  await platform.sql('delete from device_group_members where group_id = $1', [at.groupId]);
  t.is(await freeze(), 2, 'a job that runs twice finds the same');
  const ids = (await read(at)).map(({ id }) => id);
  t.deepEqual(ids, [at.b, at.c].sort());
  const [first] = await read(at, null, 1);
  t.deepEqual(
    (await read(at, first?.id)).map(({ id }) => id),
    ids.slice(1),
  );
  t.deepEqual(await read(await open()), []);
  const rolledBack = { ...run, runId: randomUUID() };
  await t.throwsAsync(() =>
    inOrg(at, async (ctx) => {
      await ctx.use('targets').freeze(rolledBack, target, ownerOf(at));
      throw new Error('killed');
    }),
  );
  t.is(
    (await platform.sql('select from target_sets where run_id = $1', [rolledBack.runId])).length,
    0,
    'nothing half written',
  );
  await platform.sql('update target_sets set expires_at = now() where run_id = $1', [run.runId]);
  await platform.sql(
    `select graphile_worker.add_job('targets/prune-sets', json_build_object('data', '{}'::json, 'orgId', null, 'requestId', 'test'))`,
  );
  await platform.runJobs();
  t.deepEqual(await read(at), []);
});

test('a run is for a hundred thousand devices at most; one more is refused and nothing is kept', async (t) => {
  t.timeout(120_000);
  const at = await tenant(platform);
  const run = { kind: 'automations.run', runId: randomUUID() };
  await platform.sql(
    `insert into devices (org_id, site_id, hostname, os_type, lifecycle)
     select $1, $2, 'many-' || n, 'linux', 'active' from generate_series(1, $3) n`,
    [at.orgId, at.siteId, MAX_DEVICES],
  );
  t.is(await inOrg(at, (ctx) => ctx.use('targets').freeze(run, { type: 'all' }, ownerOf(at))), MAX_DEVICES);
  await device(at, 'one-more');
  const next = { ...run, runId: randomUUID() };
  const error = await t.throwsAsync(() =>
    inOrg(at, (ctx) => ctx.use('targets').freeze(next, { type: 'all' }, ownerOf(at))),
  );
  t.is((error as AppError).code, 'TOO_MANY_TARGETS');
  t.is((await platform.sql('select from target_sets where run_id = $1', [next.runId])).length, 0);
});
