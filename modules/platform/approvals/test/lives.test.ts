/** How requests end: carried out once, expired, stale, or without their asker. */
import { randomUUID } from 'node:crypto';
import test from 'ava';
import { AppError, type DomainEvent } from '#core';
import { apiKey, orgUser, startTestPlatform, tenant } from '#test';
import { EVERYWHERE } from '../../../../core/context/index.ts';
import type { SecretValues } from '../../../../core/contract/secret-values.ts';
import { asPlatform, enroll } from '../../../devices/devices/test/arrange.ts';
import secretValues from '../fills/secrets.values.ts';
import { concludeRequest } from '../services/conclusions.ts';
import { sweepRequests } from '../services/sweeps.ts';
import { ask, asPerson, decide, declareKind, read, refusalOf } from './arrange.ts';

const platform = await startTestPlatform();
test.after.always(() => platform.stop());

const sweep = () => asPlatform(platform, sweepRequests, EVERYWHERE);
const makeLate = (id: string) =>
  platform.sql(`update approval_requests set expires_at = now() - interval '1 minute' where id = $1`, [id]);
const events = (orgId: string) =>
  platform.sql<Pick<DomainEvent, 'name' | 'data'> & { correlation_id: string }>(
    `select name, data, correlation_id from events where org_id = $1 and name like 'approvals.%' order by occurred_at, name`,
    [orgId],
  );

test('what was approved is carried out once, however often its job runs', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind: heard.kind });
  await decide(platform, at.orgAdmin.token, id, 'approve');
  const conclude = () => asPerson(platform, at, { kind: 'job', id: null }, (ctx) => concludeRequest(ctx, id));
  await Promise.all([conclude(), conclude()]);
  await conclude();
  await platform.runJobs();
  t.is(heard.carriedOut.length, 1);
  const trail = await platform.audits({ action: 'approval.carry_out', orgId: at.orgId });
  t.is(trail.length, 1);
});

test('a worker that fails half way leaves nothing, and the next attempt carries it out', async (t) => {
  const at = await tenant(platform);
  let attempts = 0;
  const { kind } = declareKind(platform, {
    onApproved: async (ctx) => {
      attempts += 1;
      ctx.audit('approval.request', { details: { attempt: attempts }, resourceType: 'test' });
      if (attempts === 1) throw new Error('the connection was lost');
      return {};
    },
  });
  const { id } = await ask(platform, at, at.partner, { kind });
  await decide(platform, at.orgAdmin.token, id, 'approve');
  const conclude = () => asPerson(platform, at, { kind: 'job', id: null }, (ctx) => concludeRequest(ctx, id));
  await t.throwsAsync(conclude, { message: 'the connection was lost' });
  t.is((await read(platform, at.partner.token, id)).body.data.outcome, null);
  await conclude();
  t.is((await read(platform, at.partner.token, id)).body.data.outcome, 'done');
  const left = (await platform.audits({ orgId: at.orgId })).filter(({ resource_type }) => resource_type === 'test');
  t.deepEqual(
    left.map(({ details }) => details.attempt),
    [2],
  );
});

test('an error of what was approved undoes it and ends the request as failed', async (t) => {
  const at = await tenant(platform);
  const { kind } = declareKind(platform, {
    onApproved: async (ctx) => {
      ctx.audit('approval.request', { resourceType: 'test' });
      throw new AppError('NOT_FOUND', 404, 'It is gone', { details: [{ which: 'one' }] });
    },
  });
  const { id } = await ask(platform, at, at.partner, { kind });
  await decide(platform, at.orgAdmin.token, id, 'approve');
  await platform.runJobs();
  t.like((await read(platform, at.partner.token, id)).body.data, {
    ...{ status: 'approved', outcome: 'failed', outcomeCode: 'NOT_FOUND', outcomeMessage: 'It is gone' },
    result: { details: [{ which: 'one' }] },
  });
  t.is((await platform.audits({ orgId: at.orgId })).filter(({ resource_type }) => resource_type === 'test').length, 0);
});

test('what is not decided in time expires once, and cannot be approved even before the sweep', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind: heard.kind });
  await makeLate(id);
  const late = await decide(platform, at.orgAdmin.token, id, 'approve');
  t.deepEqual(
    [...refusalOf(late), late.body.error.details],
    [409, 'INVALID_STATE', [{ current: 'expired', allowed: ['pending'] }]],
  );
  await Promise.all([sweep(), sweep()]);
  await sweep();
  await platform.runJobs();
  t.is((await read(platform, at.partner.token, id)).body.data.status, 'expired');
  t.deepEqual(heard.ended, ['expired']);
  t.is((await platform.audits({ action: 'approval.expire', orgId: at.orgId })).length, 1);
});

test('asked again while it waits, the same is one request; with changes the earlier one is cancelled', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const asking = { kind: heard.kind, subject: { type: 'test', id: randomUUID() } };
  const both = await Promise.all(
    [1, 2, 3].map(() => ask(platform, at, at.partner, { ...asking, input: { size: 1, of: 'x' } })),
  );
  t.is(new Set(both.map(({ id }) => id)).size, 1);
  t.is(both.filter(({ isNew }) => isNew).length, 1);
  const [first] = both;
  t.is((await ask(platform, at, at.partner, { ...asking, input: { of: 'x', size: 1 } })).id, first?.id ?? '');
  const changed = await ask(platform, at, at.partner, { ...asking, input: { size: 2, of: 'x' } });
  t.true(changed.isNew);
  t.is((await read(platform, at.partner.token, first?.id ?? '')).body.data.status, 'cancelled');
  await makeLate(changed.id);
  t.true((await ask(platform, at, at.partner, { ...asking, input: { size: 2, of: 'x' } })).isNew);
  await platform.runJobs();
  t.deepEqual(heard.ended.toSorted(), ['cancelled', 'expired']);
});

test('what has changed since it was asked is stale: before the decision and after it', async (t) => {
  const at = await tenant(platform);
  let size: number | null = 1;
  const heard = declareKind(platform, { current: async () => (size === null ? null : { size }) });
  const { id } = await ask(platform, at, at.partner, { kind: heard.kind });
  size = 2;
  t.deepEqual(refusalOf(await decide(platform, at.orgAdmin.token, id, 'approve')), [409, 'STALE']);
  size = 1;
  t.is((await decide(platform, at.orgAdmin.token, id, 'approve')).status, 200);
  size = null;
  await platform.runJobs();
  t.like((await read(platform, at.partner.token, id)).body.data, { outcome: 'failed', outcomeCode: 'STALE' });
  t.deepEqual(heard.carriedOut, []);
});

test('nothing is carried out whose input was changed in the database, or that was approved a day ago', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const [changed, old, lost] = [
    await ask(platform, at, at.partner, { kind: heard.kind }),
    await ask(platform, at, at.partner, { kind: heard.kind }),
    await ask(platform, at, at.partner, { kind: heard.kind }),
  ];
  for (const { id } of [changed, old, lost]) await decide(platform, at.orgAdmin.token, id, 'approve');
  await platform.sql(`update approval_requests set input = '{"size": 500}' where id = $1`, [changed.id]);
  await platform.sql(`update approval_requests set decided_at = now() - interval '25 hours' where id = any($1)`, [
    [old.id, lost.id],
  ]);
  await asPerson(platform, at, { kind: 'job', id: null }, (ctx) => concludeRequest(ctx, old.id));
  await sweep();
  await platform.runJobs();
  const codes = [];
  for (const { id } of [changed, old, lost])
    codes.push((await read(platform, at.partner.token, id)).body.data.outcomeCode);
  t.deepEqual(codes, ['STALE', 'TOO_LATE', 'TOO_LATE']);
  t.deepEqual(heard.carriedOut, []);
});

test('nothing is carried out for an asker who has lost the access that it needs', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const { deviceId } = await enroll(platform, at);
  const [second] = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Two') returning id`,
    [at.orgId],
  );
  const outcome = async (change: (userId: string) => Promise<unknown>, more: object = { deviceIds: [deviceId] }) => {
    const asker = await orgUser(platform, { orgId: at.orgId });
    const { id } = await ask(platform, at, asker, { kind: heard.kind, ...more });
    await decide(platform, at.orgAdmin.token, id, 'approve');
    await change(asker.id);
    await platform.runJobs();
    const { body } = await read(platform, at.orgAdmin.token, id);
    return [body.data.status, body.data.outcome, body.data.outcomeCode];
  };
  const lost = ['approved', 'failed', 'OWNER_ACCESS_LOST'];
  const set = (what: string) => (id: string) =>
    platform.sql(`update organization_users set ${what} where user_id = $1`, [id]);
  t.deepEqual(await outcome((id) => platform.sql(`update users set status = 'disabled' where id = $1`, [id])), lost);
  t.deepEqual(await outcome((id) => platform.sql('delete from organization_users where user_id = $1', [id])), lost);
  t.deepEqual(await outcome(set(`role_id = '00000000-0000-4000-8000-000000000004'`)), lost);
  t.deepEqual(await outcome(set(`site_ids = '{${second?.id}}'`)), lost);
  t.deepEqual(await outcome(set(`site_ids = '{${second?.id}}'`), { siteIds: [at.siteId] }), lost);
  t.deepEqual(await outcome(set(`site_ids = '{${at.siteId}}'`), {}), lost);
  t.is(heard.carriedOut.length, 0);
  t.deepEqual(await outcome(set(`site_ids = '{${at.siteId}}'`)), ['approved', 'done', null]);
});

test('requests of deleted people, revoked keys and deleted organizations are cancelled', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform);
  const asker = await orgUser(platform, { orgId: at.orgId });
  const ofPerson = await ask(platform, at, asker, { kind: heard.kind });
  await apiKey(platform, { orgId: at.orgId, scopes: ['devices:execute'], createdBy: at.orgAdmin.id });
  const [key] = await platform.sql<{ id: string }>('select id from api_keys where org_id = $1', [at.orgId]);
  const ofKey = await asPerson(platform, at, { kind: 'job', id: null }, (ctx) =>
    ctx.use('approvals').ask({
      ...{ kind: heard.kind, subject: { type: 'test', id: randomUUID() }, orgId: at.orgId, input: { size: 1 } },
      author: { apiKeyId: key?.id ?? '' },
    }),
  );
  await sweep();
  t.is((await read(platform, at.partner.token, ofPerson.id)).body.data.status, 'pending');
  await platform.sql('delete from sessions where user_id = $1', [asker.id]);
  await platform.sql('delete from users where id = $1', [asker.id]);
  await platform.sql(`update api_keys set status = 'revoked' where id = $1`, [key?.id]);
  await sweep();
  await platform.runJobs();
  for (const { id } of [ofPerson, ofKey])
    t.is((await read(platform, at.partner.token, id)).body.data.status, 'cancelled');
  t.deepEqual(heard.ended, ['cancelled', 'cancelled']);
  const other = await tenant(platform);
  const { id } = await ask(platform, other, other.partner, { kind: heard.kind });
  await platform.sql('update organizations set deleted_at = now() where id = $1', [other.orgId]);
  await sweep();
  const [row] = await platform.sql('select status, decision_reason from approval_requests where id = $1', [id]);
  t.deepEqual(row, { status: 'cancelled', decision_reason: 'The organization was deleted' });
});

test('a secret input is sealed in the database and erased at the end', async (t) => {
  const at = await tenant(platform);
  const heard = declareKind(platform, { secret: true, summarize: () => ({ title: 'Secret', details: [] }) });
  const { id } = await ask(platform, at, at.partner, { kind: heard.kind, input: { password: 'correct horse' } });
  const stored = async () =>
    (
      await platform.sql<{ row: string; input: object }>(
        'select r::text as row, input from approval_requests r where id = $1',
        [id],
      )
    )[0];
  t.notRegex((await stored())?.row ?? '', /correct horse/);
  await decide(platform, at.orgAdmin.token, id, 'approve');
  await platform.runJobs();
  t.deepEqual(heard.carriedOut[0]?.input, { password: 'correct horse' });
  t.deepEqual((await stored())?.input, {});
  // What operators lose with the encryption key.
  const lost = await Promise.all(
    [1, 2].map(() => ask(platform, at, at.partner, { kind: heard.kind, input: { password: 'x' } })),
  );
  const [waiting = '', approved = ''] = lost.map((one) => one.id);
  await decide(platform, at.orgAdmin.token, approved, 'approve');
  const { count, remove = '' } = secretValues.value as SecretValues;
  t.deepEqual(await platform.sql(count), [{ n: 2 }]);
  await platform.sql(remove);
  await platform.runJobs();
  t.is((await read(platform, at.partner.token, waiting)).body.data.status, 'cancelled');
  t.like((await read(platform, at.partner.token, approved)).body.data, {
    outcome: 'failed',
    outcomeCode: 'INPUT_LOST',
  });
});

test('asking, deciding and carrying out are events of one chain', async (t) => {
  const at = await tenant(platform);
  let correlationId = '';
  const { kind } = declareKind(platform, {
    onApproved: async (ctx) => {
      ({ correlationId } = ctx.causation);
      return {};
    },
  });
  const { id } = await ask(platform, at, at.partner, { kind });
  await decide(platform, at.orgAdmin.token, id, 'approve');
  await platform.runJobs();
  const told = await events(at.orgId);
  t.deepEqual(told.map(({ name }) => name).sort(), [
    'approvals.carried_out',
    'approvals.decided',
    'approvals.requested',
  ]);
  t.is(new Set(told.map((one) => one.correlation_id)).size, 1);
  t.is(correlationId, told[0]?.correlation_id ?? '');
});

test('deciders hear of a request with a link to it, by mail too, and the asker of what came of it', async (t) => {
  const at = await tenant(platform);
  const { kind } = declareKind(platform);
  const { id } = await ask(platform, at, at.partner, { kind });
  await platform.runJobs();
  const notices = () =>
    platform.sql<{ user_id: string; title: string; link: string }>(
      'select user_id, title, link from user_notifications where org_id = $1 order by created_at',
      [at.orgId],
    );
  t.deepEqual(await notices(), [
    { user_id: at.orgAdmin.id, title: 'Approval needed: A test', link: `/approvals/${id}` },
  ]);
  const mails = await platform.sql(`select 1 from notification_deliveries where user_id = $1 and kind = 'email'`, [
    at.orgAdmin.id,
  ]);
  t.is(mails.length, 1);
  await decide(platform, at.orgAdmin.token, id, 'reject');
  await platform.runJobs();
  t.like((await notices())[1], { user_id: at.partner.id, title: 'Rejected: A test' });
  t.is((await notices()).length, 2);
});
