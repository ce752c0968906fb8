/** The life of an attempt: steps, ends, retries, time-outs. */
import test from 'ava';
import { systemUser, tenant } from '#test';
import { fc } from '#test/properties';
import { ATTEMPT_STATES, REPORTED } from '../models/attempt.ts';
import { age, attempts, beat, forget, layOut, newAgent, report, runJob, startLocal, sync } from './ground.ts';

const { test: platform, folder } = await startLocal();
const admin = await systemUser(platform);
await layOut(folder, '2.0.0', ['agent-linux-amd64']);
await sync(platform, admin.token);
test.after.always(() => platform.stop());

const offered = async () => {
  const at = await tenant(platform);
  const agent = await newAgent(platform, at);
  await beat(agent);
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

test.serial('an agent reports its steps in order; a repeat changes nothing, a step back is refused', async (t) => {
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
  await beat(agent, '2.0.0');
  t.is((await last())?.state, 'succeeded');
  t.is(await shownState(agent.deviceId), null);
});

test.serial('an agent speaks only of itself', async (t) => {
  const [one, other] = [await offered(), await offered()];
  const token = other.agent.token;
  t.is((await one.agent.call('POST', 'update-status', { targetVersion: '2.0.0', state: 'failed' }, token)).status, 401);
  t.is((await one.last())?.state, 'offered');
});

test.serial(
  'coming back with the old version after the restart is a roll-back, which ends the offers of that version',
  async (t) => {
    const { agent, last, orgId } = await offered();
    await report(agent, '2.0.0', 'restarting');
    await beat(agent);
    t.is((await last())?.state, 'restarting', 'that beat may have been on its way');
    await age(platform, agent.deviceId, '10 seconds');
    t.is((await beat(agent)).upgradeTo, null);
    t.is((await last())?.state, 'rolled_back');
    await age(platform, agent.deviceId, '30 days');
    forget(platform);
    t.is((await beat(agent)).upgradeTo, null);
    const entries = await platform.audits({ action: 'agent.update.failed', orgId });
    t.like(entries[0], { actor_type: 'agent', result: 'failure', details: { state: 'rolled_back', to: '2.0.0' } });
    t.like((await failedEvents(orgId))[0]?.data, { over: true, state: 'rolled_back' });
  },
);

test.serial('a watchdog reports the roll-back of the agent that does not come up', async (t) => {
  const { agent, last } = await offered();
  await report(agent, '2.0.0', 'restarting');
  const body = { targetVersion: '2.0.0', state: 'rolled_back', reason: 'start_failed' };
  t.is((await agent.call('POST', 'update-status', body, agent.enrolled.watchdogAuthToken)).status, 200);
  t.like(await last(), { state: 'rolled_back', reason: 'start_failed' });
});

test.serial('a failed attempt is repeated after one hour and after six, then given up with news of it', async (t) => {
  const { agent, last, orgId } = await offered();
  const again = async (after: string) => {
    await age(platform, agent.deviceId, after);
    forget(platform);
    return (await beat(agent)).upgradeTo !== null;
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
  'a locked file or a broken download is tried again with the next beat, three times for nothing',
  async (t) => {
    const { agent } = await offered();
    for (const reason of ['file_locked', 'download_failed', 'file_locked']) {
      await report(agent, '2.0.0', 'failed', { reason });
      forget(platform);
      t.is((await beat(agent)).upgradeTo?.version, '2.0.0', reason);
    }
    await report(agent, '2.0.0', 'failed', { reason: 'download_failed' });
    forget(platform);
    t.is((await beat(agent)).upgradeTo, null, 'from then on they count');
  },
);

test.serial('an update that takes over five minutes has failed, one that is only offered after an hour', async (t) => {
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

test.serial(
  'an agent that comes back with the new version after its time was over has been updated all the same',
  async (t) => {
    const { agent, last } = await offered();
    await report(agent, '2.0.0', 'restarting');
    await age(platform, agent.deviceId, '6 minutes');
    await runJob(platform, 'sweep-attempts');
    t.like(await last(), { state: 'failed', reason: 'timeout' });
    await beat(agent, '2.0.0');
    t.like(await last(), { state: 'succeeded', reason: null });
  },
);

test.serial('an update that a socket told devices of counts as begun', async (t) => {
  const { agent, last } = await offered();
  await platform.sql(
    `update device_state set updating_since = now(), updating_to_version = '2.0.0' where device_id = $1`,
    [agent.deviceId],
  );
  await runJob(platform, 'sweep-attempts');
  t.is((await last())?.state, 'downloading');
});

test.serial('an operator lets a device try again; strangers and readers do not', async (t) => {
  const { agent, last, orgAdmin, viewer, orgId } = await offered();
  await report(agent, '2.0.0', 'failed', { reason: 'start_failed' });
  const id = (await last())?.id;
  const retry = (token: string) => platform.call('POST', `/agent-versions/attempts/${id}/retry`, { token });
  t.is((await retry(viewer.token)).status, 403);
  t.is((await retry((await tenant(platform)).orgAdmin.token)).status, 404);
  t.is((await retry(orgAdmin.token)).status, 200);
  t.is((await beat(agent)).upgradeTo?.version, '2.0.0');
  t.is((await retry(orgAdmin.token)).status, 200, 'once more changes nothing');
  const entries = await platform.audits({ action: 'agent.update.retry', orgId });
  t.deepEqual(entries.map(({ result }) => result).sort(), ['denied', 'success']);
  const [open] = (await attempts(platform, agent.deviceId)).filter(({ state }) => state === 'offered');
  const refused = await platform.call('POST', `/agent-versions/attempts/${open?.id}/retry`, { token: orgAdmin.token });
  t.is(refused.status, 409);
});

test.serial('two beats at once get one attempt', async (t) => {
  const agent = await newAgent(platform, await tenant(platform));
  await Promise.all([beat(agent), beat(agent), beat(agent)]);
  t.is((await attempts(platform, agent.deviceId)).length, 1);
});

test.serial(
  'no sequence of reports, beats and sweeps leaves the table of states, and an end stays an end',
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
          } else if (one.kind === 'beat') await beat(agent, one.version);
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
