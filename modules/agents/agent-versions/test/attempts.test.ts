/** The states of an attempt: steps, ends, retries, timeouts. */
import test from 'ava';
import { systemUser, tenant } from '#test';
import { fc } from '#test/properties';
import { ATTEMPT_STATES, REPORTED } from '../models/attempt.ts';
import { age, attempts, forget, layOut, newAgent, report, runJob, sendHeartbeat, startLocal, sync } from './ground.ts';

const { test: platform, folder } = await startLocal();
const admin = await systemUser(platform);
await layOut(folder, '2.0.0', ['agent-linux-amd64']);
await sync(platform, admin.token);
test.after.always(() => platform.stop());

const offered = async () => {
  const at = await tenant(platform);
  const agent = await newAgent(platform, at);
  await sendHeartbeat(agent);
  return { ...at, agent, last: async () => (await attempts(platform, agent.deviceId)).at(-1) };
};
const shownState = async (deviceId: string) =>
  (
    await platform.sql<{ updating_to_version: string | null }>(
      'select updating_to_version from device_state where device_id = $1',
      [deviceId],
    )
  )[0]?.updating_to_version;
const failedEvents = (orgId: string) =>
  platform.sql<{ data: { over: boolean; reason: string; state: string } }>(
    `select data from events where name = 'agent-versions.update.failed' and org_id = $1 order by occurred_at`,
    [orgId],
  );

test.serial('an agent reports its steps in order; a repeat changes nothing, and a step back is rejected', async (t) => {
  const { agent, last } = await offered();
  for (const state of ['downloading', 'verifying', 'installing', 'restarting']) {
    t.deepEqual((await report(agent, '2.0.0', state)).body, { changed: true } as never);
    t.is((await last())?.state, state);
    t.deepEqual((await report(agent, '2.0.0', state)).body, { changed: false } as never);
  }
  const back = await report(agent, '2.0.0', 'verifying');
  t.deepEqual([back.status, back.body.error.code], [409, 'INVALID_STATE']);
  t.is((await report(agent, '3.0.0', 'downloading')).status, 404);
  t.is((await report(agent, '2.0.0', 'succeeded')).status, 400, 'success shows in the heartbeat');
  t.is(await shownState(agent.deviceId), '2.0.0', 'the device shows updating');
  await sendHeartbeat(agent, '2.0.0');
  t.is((await last())?.state, 'succeeded');
  t.is(await shownState(agent.deviceId), null);
});

test.serial('an agent reports only about its own device', async (t) => {
  const [one, other] = [await offered(), await offered()];
  const token = other.agent.token;
  t.is((await one.agent.call('POST', 'update-status', { targetVersion: '2.0.0', state: 'failed' }, token)).status, 401);
  t.is((await one.last())?.state, 'offered');
});

test.serial('an old version after the restart is a rollback, and the version is not offered again', async (t) => {
  const { agent, last, orgId } = await offered();
  await report(agent, '2.0.0', 'restarting');
  await sendHeartbeat(agent);
  t.is((await last())?.state, 'restarting', 'that heartbeat may have been sent before the restart');
  await age(platform, agent.deviceId, '10 seconds');
  t.is((await sendHeartbeat(agent)).upgradeTo, null);
  t.is((await last())?.state, 'rolled_back');
  await age(platform, agent.deviceId, '30 days');
  forget(platform);
  t.is((await sendHeartbeat(agent)).upgradeTo, null);
  const entries = await platform.audits({ action: 'agent.update.failed', orgId });
  t.like(entries[0], { actor_type: 'agent', result: 'failure', details: { state: 'rolled_back', to: '2.0.0' } });
  t.like((await failedEvents(orgId))[0]?.data, { over: true, state: 'rolled_back' });
});

test.serial('a watchdog reports the rollback of an agent that does not start', async (t) => {
  const { agent, last } = await offered();
  await report(agent, '2.0.0', 'restarting');
  const body = { targetVersion: '2.0.0', state: 'rolled_back', reason: 'start_failed' };
  t.is((await agent.call('POST', 'update-status', body, agent.enrolled.watchdogAuthToken)).status, 200);
  t.like(await last(), { state: 'rolled_back', reason: 'start_failed' });
});

test.serial('a failed attempt is repeated after one hour and after six, then given up with an event', async (t) => {
  const { agent, last, orgId } = await offered();
  const again = async (after: string) => {
    await age(platform, agent.deviceId, after);
    forget(platform);
    return (await sendHeartbeat(agent)).upgradeTo !== null;
  };
  await report(agent, '2.0.0', 'failed', { reason: 'checksum_mismatch' });
  t.false(await again('59 minutes'));
  t.true(await again('2 minutes'));
  t.is((await last())?.attempt, 2);
  await report(agent, '2.0.0', 'failed', { reason: 'no_space' });
  t.false(await again('5 hours'));
  t.true(await again('61 minutes'));
  await report(agent, '2.0.0', 'failed', { reason: 'signature_invalid' });
  t.false(await again('20 days'));
  t.deepEqual(
    (await attempts(platform, agent.deviceId)).map(({ reason }) => reason),
    ['checksum_mismatch', 'no_space', 'signature_invalid'],
  );
  t.deepEqual(
    (await failedEvents(orgId)).map(({ data }) => data.over),
    [false, false, true],
  );
});

test.serial(
  'a locked file or a broken download is retried with the next heartbeat, and three of them do not count',
  async (t) => {
    const { agent } = await offered();
    for (const reason of ['file_locked', 'download_failed', 'file_locked']) {
      await report(agent, '2.0.0', 'failed', { reason });
      forget(platform);
      t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.0.0', reason);
    }
    await report(agent, '2.0.0', 'failed', { reason: 'download_failed' });
    forget(platform);
    t.is((await sendHeartbeat(agent)).upgradeTo, null, 'further ones count');
  },
);

test.serial('an update fails after five minutes without progress, an offer after an hour', async (t) => {
  const [busy, idle] = [await offered(), await offered()];
  await report(busy.agent, '2.0.0', 'downloading');
  for (const { agent } of [busy, idle]) await age(platform, agent.deviceId, '3 minutes');
  await runJob(platform, 'sweep-attempts');
  t.is((await busy.last())?.state, 'downloading');
  for (const { agent } of [busy, idle]) await age(platform, agent.deviceId, '3 minutes');
  await runJob(platform, 'sweep-attempts');
  t.like(await busy.last(), { state: 'failed', reason: 'timeout' });
  t.is((await idle.last())?.state, 'offered');
  await age(platform, idle.agent.deviceId, '1 hour');
  await runJob(platform, 'sweep-attempts');
  t.like(await idle.last(), { state: 'failed', reason: 'timeout' });
  t.is((await platform.audits({ action: 'agent.update.failed', orgId: busy.orgId })).length, 1);
});

test.serial('an agent that runs the new version after its attempt timed out counts as updated', async (t) => {
  const { agent, last } = await offered();
  await report(agent, '2.0.0', 'restarting');
  await age(platform, agent.deviceId, '6 minutes');
  await runJob(platform, 'sweep-attempts');
  t.like(await last(), { state: 'failed', reason: 'timeout' });
  await sendHeartbeat(agent, '2.0.0');
  t.like(await last(), { state: 'succeeded', reason: null });
});

test.serial('an update reported over the socket counts as begun', async (t) => {
  const { agent, last } = await offered();
  await platform.sql(
    `update device_state set updating_since = now(), updating_to_version = '2.0.0' where device_id = $1`,
    [agent.deviceId],
  );
  await runJob(platform, 'sweep-attempts');
  t.is((await last())?.state, 'downloading');
});

test.serial('an operator may retry; other tenants and readers may not', async (t) => {
  const { agent, last, orgAdmin, viewer, orgId } = await offered();
  await report(agent, '2.0.0', 'failed', { reason: 'start_failed' });
  const id = (await last())?.id;
  const retry = (token: string) => platform.call('POST', `/agent-versions/attempts/${id}/retry`, { token });
  t.is((await retry(viewer.token)).status, 403);
  t.is((await retry((await tenant(platform)).orgAdmin.token)).status, 404);
  t.is((await retry(orgAdmin.token)).status, 200);
  t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.0.0');
  t.is((await retry(orgAdmin.token)).status, 200, 'a repeat changes nothing');
  const entries = await platform.audits({ action: 'agent.update.retry', orgId });
  t.deepEqual(entries.map(({ result }) => result).sort(), ['denied', 'success']);
  const [open] = (await attempts(platform, agent.deviceId)).filter(({ state }) => state === 'offered');
  const refused = await platform.call('POST', `/agent-versions/attempts/${open?.id}/retry`, { token: orgAdmin.token });
  t.is(refused.status, 409);
});

test.serial('two heartbeats at once make one attempt', async (t) => {
  const agent = await newAgent(platform, await tenant(platform));
  await Promise.all([sendHeartbeat(agent), sendHeartbeat(agent), sendHeartbeat(agent)]);
  t.is((await attempts(platform, agent.deviceId)).length, 1);
});

test.serial(
  'no sequence of reports, heartbeats and sweeps makes an unknown transition, and an ended attempt stays ended',
  async (t) => {
    const ENDS = ['succeeded', 'rolled_back', 'failed'];
    const step = fc.oneof(
      fc.constantFrom(...REPORTED).map((state) => ({ kind: 'report' as const, state })),
      fc.constantFrom('1.0.0', '2.0.0').map((version) => ({ kind: 'beat' as const, version })),
      fc.constantFrom('10 seconds', '6 minutes', '2 hours').map((time) => ({ kind: 'wait' as const, time })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 10 }), async (steps) => {
        const { agent } = await offered();
        let before = new Map<string, { state: string; reason: string | null }>();
        for (const one of steps) {
          if (one.kind === 'report') {
            const { status } = await report(agent, '2.0.0', one.state);
            if (![200, 404, 409].includes(status)) return false;
          } else if (one.kind === 'beat') await sendHeartbeat(agent, one.version);
          else {
            await age(platform, agent.deviceId, one.time);
            await runJob(platform, 'sweep-attempts');
            forget(platform);
          }
          const now = await attempts(platform, agent.deviceId);
          for (const { id, state } of now) {
            const was = before.get(id);
            if (!ATTEMPT_STATES.includes(state as never)) return false;
            if (was && ENDS.includes(was.state) && was.state !== state && was.reason !== 'timeout') return false;
          }
          if (now.filter(({ state }) => !ENDS.includes(state)).length > 1) return false;
          before = new Map(now.map(({ id, state, reason }) => [id, { state, reason }]));
        }
        return true;
      }),
      { numRuns: 40 },
    );
    t.pass();
  },
);
