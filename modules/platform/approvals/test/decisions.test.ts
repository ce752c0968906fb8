/** Who may decide about a request, and that one decision counts. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { apiKey, orgUser, partnerUser, startTestPlatform, systemUser, tenant } from '#test';
import { enroll } from '../../../devices/devices/test/arrange.ts';
import { ask, asPerson, decide, declareKind, read, refusalOf, type Shown } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const ROLES = { technician: '00000000-0000-4000-8000-000000000003' };
const list = async (token: string, query = '') =>
  (await platform.call<{ data: Shown[] }>('GET', `/approvals${query}`, { token })).body.data;

test('a second person approves, and it is carried out once, in the name of the asker', async (t) => {
  const at = await tenant(platform);
  let actor: unknown;
  const heard = declareKind(platform, {
    onApproved: async (ctx, request) => {
      heard.carriedOut.push(request);
      actor = [ctx.actor.kind, ctx.actor.id, ctx.scope.orgIds];
      return { size: request.input.size };
    },
  });
  const { id, isNew } = await ask(platform, at, at.partner, {
    kind: heard.kind,
    reason: 'Because',
    input: { size: 3 },
  });
  t.true(isNew);
  const seen = await read(platform, at.orgAdmin.token, id);
  t.like(seen.body.data, { status: 'pending', mayDecide: true, title: 'A test', kindTitle: 'Test', outcome: null });
  t.deepEqual(seen.body.data.details, [{ label: 'Size', value: '3' }]);
  t.like((await read(platform, at.partner.token, id)).body.data, { mayDecide: false });
  const approved = await decide(platform, at.orgAdmin.token, id, 'approve');
  t.like(approved.body.data, { status: 'approved', version: 2, decidedBy: { userId: at.orgAdmin.id } });
  await platform.runJobs();
  t.is(heard.carriedOut.length, 1);
  t.like(heard.carriedOut[0], { input: { size: 3 }, decidedBy: at.orgAdmin.id, reason: 'Because' });
  t.deepEqual(actor, ['user', at.partner.id, [at.orgId]]);
  t.like((await read(platform, at.partner.token, id)).body.data, { outcome: 'done', result: { size: 3 } });
});

test('the asker does not decide: not with another session, and not about what an own API key asked', async (t) => {
  const at = await tenant(platform);
  const { kind } = declareKind(platform);
  const own = await ask(platform, at, at.orgAdmin, { kind });
  for (const how of ['approve', 'reject'] as const)
    t.deepEqual(refusalOf(await decide(platform, at.orgAdmin.token, own.id, how)), [403, 'SAME_PERSON']);
  const [session] = await platform.sql<{ id: string }>(
    `insert into sessions (user_id, token_hash, mfa, scope, org_id, expires_at)
     values ($1, $2, true, 'organization', $3, now() + interval '1 day') returning id`,
    [at.orgAdmin.id, randomUUID(), at.orgId],
  );
  const claims = { sub: at.orgAdmin.id, sid: session?.id ?? '', scope: 'organization' as const, mfa: true };
  const other = await platform.signAccess({ ...claims, orgId: at.orgId }, 600);
  t.deepEqual(refusalOf(await decide(platform, other, own.id, 'approve')), [403, 'SAME_PERSON']);
  await apiKey(platform, { orgId: at.orgId, scopes: ['devices:execute'], createdBy: at.orgAdmin.id });
  const [key] = await platform.sql<{ id: string }>('select id from api_keys where org_id = $1', [at.orgId]);
  const byKey = await asPerson(platform, at, { kind: 'api_key', id: key?.id ?? '' }, (ctx) =>
    ctx
      .use('approvals')
      .ask({ kind, subject: { type: 'test', id: randomUUID() }, orgId: at.orgId, input: { size: 1 } }),
  );
  t.deepEqual(refusalOf(await decide(platform, at.orgAdmin.token, byKey.id, 'approve')), [403, 'SAME_PERSON']);
  t.is((await decide(platform, at.partner.token, byKey.id, 'approve')).status, 200);
  t.is((await decide(platform, at.partner.token, own.id, 'reject')).status, 200);
});

test('an API key reads what it asked for, and decides about nothing', async (t) => {
  const at = await tenant(platform);
  const { kind } = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind });
  const key = await apiKey(platform, { orgId: at.orgId, scopes: ['*', 'devices:execute'], createdBy: at.orgAdmin.id });
  const shown = await platform.call<{ data: Shown }>('GET', `/approvals/${id}`, { apiKey: key });
  t.is(shown.body.data.mayDecide, false);
  t.is((await platform.call('POST', `/approvals/${id}/approve`, { apiKey: key, body: {} })).status, 401);
  const { body } = await platform.call<{ data: Shown[] }>('GET', '/approvals?mine=decidable', { apiKey: key });
  t.deepEqual(body.data, []);
});

test('a decider has the permission of the kind, the second factor, and reaches all that the request is for', async (t) => {
  const at = await tenant(platform);
  const { kind } = declareKind(platform);
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [at.orgId],
  );
  const here = await enroll(platform, at);
  const there = await enroll(platform, { orgId: at.orgId, siteId: second?.id ?? '' });
  const limited = await orgUser(platform, { orgId: at.orgId, siteIds: [at.siteId] });
  const stranger = await tenant(platform);
  const whole = await ask(platform, at, at.partner, { kind });
  const both = await ask(platform, at, at.partner, { kind, deviceIds: [here.deviceId, there.deviceId] });
  const one = await ask(platform, at, at.partner, { kind, deviceIds: [here.deviceId] });
  const ofSite = await ask(platform, at, at.partner, { kind, siteIds: [at.siteId] });
  for (const { token } of [at.viewer, stranger.orgAdmin, stranger.partner]) {
    t.is((await read(platform, token, one.id)).status, 404);
    t.is((await decide(platform, token, one.id, 'approve')).status, 404);
    t.deepEqual(await list(token), []);
  }
  for (const { id } of [whole, both]) t.is((await decide(platform, limited.token, id, 'approve')).status, 404);
  t.deepEqual((await list(limited.token, '?mine=decidable')).map(({ id }) => id).sort(), [one.id, ofSite.id].sort());
  const plain = await orgUser(platform, { orgId: at.orgId, mfa: false });
  t.deepEqual(refusalOf(await decide(platform, plain.token, one.id, 'approve')), [403, 'MFA_VERIFICATION_REQUIRED']);
  t.is((await decide(platform, limited.token, one.id, 'approve')).status, 200);
  t.is((await decide(platform, limited.token, ofSite.id, 'approve')).status, 200);
  // What lies elsewhere by now is out of the decider's reach.
  const moved = await ask(platform, at, at.partner, { kind, deviceIds: [here.deviceId] });
  await platform.sql('update devices set site_id = $2 where id = $1', [here.deviceId, second?.id]);
  t.is((await decide(platform, limited.token, moved.id, 'approve')).status, 404);
  const { token: admin } = await systemUser(platform);
  t.is((await decide(platform, admin, both.id, 'approve')).status, 200);
});

test('of several people who decide at once, one succeeds', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind: heard.kind });
  const people = await Promise.all(
    Array.from({ length: 6 }, () => orgUser(platform, { orgId: at.orgId, roleId: ROLES.technician })),
  );
  const answers = await Promise.all(
    people.map(({ token }, n) => decide(platform, token, id, n % 2 === 0 ? 'approve' : 'reject')),
  );
  t.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409, 409, 409]);
  const lost = answers.find(({ status }) => status === 409);
  t.is(lost?.body.error.code, 'INVALID_STATE');
  const won = answers.find(({ status }) => status === 200)?.body.data.status;
  await platform.runJobs();
  t.deepEqual([heard.carriedOut.length, heard.ended], won === 'approved' ? [1, []] : [0, ['rejected']]);
  const trail = (await platform.audits({ orgId: at.orgId })).filter(({ resource_id }) => resource_id === id);
  t.is(trail.filter(({ action, result }) => /approve|reject/.test(action) && result === 'success').length, 1);
});

test('only the asker takes a request back, and then it cannot be approved', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind: heard.kind });
  t.deepEqual(refusalOf(await decide(platform, at.orgAdmin.token, id, 'cancel')), [403, 'FORBIDDEN']);
  t.is((await decide(platform, at.partner.token, id, 'cancel')).body.data.status, 'cancelled');
  const late = await decide(platform, at.orgAdmin.token, id, 'approve');
  t.deepEqual(
    [...refusalOf(late), late.body.error.details],
    [409, 'INVALID_STATE', [{ current: 'cancelled', allowed: ['pending'] }]],
  );
  await platform.runJobs();
  t.deepEqual([heard.carriedOut, heard.ended], [[], ['cancelled']]);
});

test('every change stands in the audit trail with what was before and after', async (t) => {
  const at = await tenant(platform);
  const { kind } = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind, reason: 'Because' });
  await decide(platform, at.orgAdmin.token, id, 'reject');
  await platform.runJobs();
  const trail = (await platform.audits({ orgId: at.orgId })).filter(({ resource_id }) => resource_id === id);
  t.deepEqual(
    trail.map(({ action, actor_id }) => [action, actor_id]),
    [
      ['approval.request', at.partner.id],
      ['approval.reject', at.orgAdmin.id],
    ],
  );
  t.like(trail[0]?.details, { before: null, after: { status: 'pending' }, reason: 'Because', askedBy: at.partner.id });
  t.like(trail[1]?.details, {
    before: { status: 'pending', decisionReason: null },
    after: { status: 'rejected', decisionReason: 'Not now', decidedBy: at.orgAdmin.id },
  });
});

test('the list is filtered by state, kind, organization and whose it is, in pages and by cursor', async (t) => {
  const at = await tenant(platform);
  const [one, other] = [declareKind(platform), declareKind(platform)];
  const ids: string[] = [];
  for (const { kind } of [one, one, one, other]) ids.unshift((await ask(platform, at, at.partner, { kind })).id);
  await decide(platform, at.orgAdmin.token, ids[0] ?? '', 'reject');
  const seen = async (token: string, query: string) => (await list(token, query)).map(({ id }) => id);
  t.deepEqual(await seen(at.orgAdmin.token, ''), ids);
  t.deepEqual(await seen(at.orgAdmin.token, '?mine=decidable'), ids.slice(1));
  t.deepEqual(await seen(at.orgAdmin.token, '?mine=asked'), []);
  t.deepEqual(await seen(at.partner.token, `?mine=asked&kind=${one.kind}`), ids.slice(1));
  t.deepEqual(await seen(at.partner.token, `?status=rejected&orgId=${at.orgId}`), ids.slice(0, 1));
  const first = await platform.call<{ data: Shown[]; pagination: { cursor: string } }>(
    'GET',
    '/approvals?cursor=&limit=3',
    { token: at.orgAdmin.token },
  );
  t.deepEqual(await seen(at.orgAdmin.token, `?limit=3&cursor=${first.body.pagination.cursor}`), ids.slice(3));
  const elsewhere = await tenant(platform);
  t.is((await platform.call('GET', `/approvals?orgId=${elsewhere.orgId}`, { token: at.orgAdmin.token })).status, 403);
  const some = await partnerUser(platform, {
    ...{ partnerId: at.partnerId, roleId: at.partnerRoleId, orgAccess: 'none' },
  });
  t.deepEqual(await seen(some.token, ''), []);
});
