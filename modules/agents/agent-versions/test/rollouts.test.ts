/** Rollouts that are halted, who may resume them, and what the status shows. */
import test from 'ava';
import { organization, orgUser, partnerUser, systemUser, type Tenant, tenant } from '#test';
import { attempts, layOut, newAgent, report, runJob, sendHeartbeat, setPolicy, startLocal, sync } from './ground.ts';

const { test: platform, folder } = await startLocal();
const admin = await systemUser(platform);
await layOut(folder, '2.0.0', ['agent-linux-amd64']);
await sync(platform, admin.token);
test.after.always(() => platform.stop());

interface Status {
  data: {
    versions: { platform: string; version: string; devices: number }[];
    attempts: Record<string, number>;
    failing: { id: string; deviceId: string; hostname: string; reason: string }[];
    halted: {
      id: string;
      orgId: string | null;
      partnerId: string | null;
      version: string;
      failures: number;
      attempts: number;
    }[];
  };
}
const status = async (token: string, query = '') =>
  (await platform.call<Status>('GET', `/agent-versions/status?${query}`, { token })).body.data;
const resume = (id: string | undefined, token: string) =>
  platform.call<{ error: { code: string } }>('POST', `/agent-versions/halts/${id}/resume`, { token });

/** So many devices of an organization with an attempt each, of which the first ones failed. */
const tried = (at: { orgId: string; siteId: string }, count: number, failed: number, version = '2.0.0') =>
  platform.sql(
    `with d as (
       insert into devices (org_id, site_id, hostname, os_type, architecture, lifecycle, agent_version)
       select $1, $2, 'tried-' || n, 'linux', 'x64', 'active', '1.0.0' from generate_series(1, $3::int) n
       returning id, org_id, substr(hostname, 7)::int as n)
     insert into agent_update_attempts (org_id, device_id, component, from_version, to_version, attempt, state, reason,
       finished_at)
     select org_id, id, 'agent', '1.0.0', $5, 1, case when n <= $4 then 'failed' else 'succeeded' end,
       case when n <= $4 then 'start_failed' end, now() from d`,
    [at.orgId, at.siteId, count, failed, version],
  );
const haltsOf = (at: Tenant) =>
  platform.sql<{ org_id: string | null; partner_id: string | null; version: string }>(
    `select org_id, partner_id, version from agent_rollout_halts where org_id = $1 or partner_id = $2`,
    [at.orgId, at.partnerId],
  );

test.serial(
  'a rollout that fails too often is halted for the organization and its partner, with one event each',
  async (t) => {
    const at = await tenant(platform);
    await tried(at, 20, 2);
    await runJob(platform, 'evaluate-rings');
    await runJob(platform, 'evaluate-rings');
    const halts = await haltsOf(at);
    t.deepEqual(halts.map(({ org_id }) => org_id === null).sort(), [false, true]);
    const agent = await newAgent(platform, at);
    t.is((await sendHeartbeat(agent)).upgradeTo, null);
    t.deepEqual(await attempts(platform, agent.deviceId), []);
    const stranger = await newAgent(platform, await tenant(platform));
    t.is((await sendHeartbeat(stranger)).upgradeTo?.version, '2.0.0', 'other partners are not affected');
    const emitted = await platform.sql(
      `select data from events where name = 'agent-versions.rollout.halted' and data ->> 'partnerId' = $1`,
      [at.partnerId],
    );
    t.is(emitted.length, 2);
    const [entry] = await platform.audits({ action: 'agent.rollout.halt', orgId: at.orgId });
    t.like(entry, { actor_type: 'system', details: { version: '2.0.0', attempts: 20, failures: 2 } });
  },
);

test.serial('few failures halt nothing, and the tenant sets the limits', async (t) => {
  const [calm, strict] = [await tenant(platform), await tenant(platform)];
  await tried(calm, 19, 5);
  await tried(strict, 3, 2);
  await setPolicy(platform, { orgId: strict.orgId }, { haltOnFailureCount: 2 });
  await runJob(platform, 'evaluate-rings');
  t.deepEqual(await haltsOf(calm), []);
  t.deepEqual(
    (await haltsOf(strict)).map(({ org_id, partner_id }) => [org_id, partner_id]),
    [[strict.orgId, null]],
  );
});

test.serial('failures of many small organizations add up for their partner', async (t) => {
  const at = await tenant(platform);
  const places = [at, ...(await Promise.all([1, 2, 3].map(() => organization(platform, at.partnerId))))];
  for (const place of places) await tried(place, 5, 1);
  await runJob(platform, 'evaluate-rings');
  t.deepEqual(
    (await haltsOf(at)).map(({ org_id, partner_id }) => [org_id, partner_id]),
    [[null, at.partnerId]],
  );
  const [seen] = (await status(at.viewer.token)).halted;
  t.like(seen, { partnerId: at.partnerId, attempts: 20, failures: 4 });
});

test.serial('only an operator who reaches all devices of the rollout may resume it', async (t) => {
  const at = await tenant(platform);
  await tried(at, 20, 3);
  await runJob(platform, 'evaluate-rings');
  const { halted } = await status(at.partner.token);
  const own = halted.find(({ orgId }) => orgId === at.orgId)?.id;
  const whole = halted.find(({ partnerId }) => partnerId === at.partnerId)?.id;
  const stranger = await tenant(platform);
  t.is((await resume(own, stranger.partner.token)).status, 404);
  t.is((await resume(whole, stranger.orgAdmin.token)).status, 404);
  t.is((await resume(own, at.viewer.token)).status, 403);
  t.is((await resume(whole, at.orgAdmin.token)).status, 403, 'it also applies to other organizations');
  const some = await partnerUser(platform, {
    ...{ partnerId: at.partnerId, roleId: at.partnerRoleId, orgAccess: 'selected' as const, orgIds: [at.orgId] },
  });
  t.is((await resume(whole, some.token)).status, 403);
  const narrow = await orgUser(platform, { orgId: at.orgId, siteIds: [at.siteId] });
  t.is((await resume(own, narrow.token)).status, 403);
  t.is((await resume(own, at.orgAdmin.token)).status, 200);
  const agent = await newAgent(platform, at);
  t.is((await sendHeartbeat(agent)).upgradeTo, null, 'it is still halted for the partner');
  t.is((await resume(whole, at.partner.token)).status, 200);
  t.is((await resume(whole, at.partner.token)).body.error.code, 'INVALID_STATE');
  t.is((await sendHeartbeat(agent)).upgradeTo?.version, '2.0.0');
  await runJob(platform, 'evaluate-rings');
  t.deepEqual((await status(at.partner.token)).halted, [], 'the count of failures restarts');
  await tried(at, 20, 4);
  await runJob(platform, 'evaluate-rings');
  t.is((await status(at.partner.token)).halted.length, 2);
  const done = (await platform.audits({ action: 'agent.rollout.resume' })).filter(({ result }) => result === 'success');
  t.is(done.length, 2);
});

test.serial('the status counts the devices that the caller may see and lists those that fail', async (t) => {
  const at = await tenant(platform);
  const other = await tenant(platform);
  const [good, bad] = [await newAgent(platform, at), await newAgent(platform, at, { hostname: 'stubborn' })];
  for (const agent of [good, bad]) await sendHeartbeat(agent);
  await sendHeartbeat(good, '2.0.0');
  await report(bad, '2.0.0', 'failed', { reason: 'no_space' });
  await newAgent(platform, other);
  const seen = await status(at.viewer.token);
  t.deepEqual(seen.versions.map(({ version, devices }) => [version, devices]).sort(), [
    ['1.0.0', 1],
    ['2.0.0', 1],
  ]);
  t.deepEqual(seen.attempts, { failed: 1, succeeded: 1 });
  t.like(seen.failing, [{ deviceId: bad.deviceId, hostname: 'stubborn', reason: 'no_space' }] as never);
  const site = await platform.sql<{ id: string }>(
    `insert into sites (org_id, name) values ($1, 'Other') returning id`,
    [at.orgId],
  );
  t.deepEqual((await status(at.orgAdmin.token, `siteId=${site[0]?.id}`)).versions, []);
  const narrow = await orgUser(platform, { orgId: at.orgId, siteIds: [site[0]?.id ?? ''] });
  await platform.sql(
    `insert into agent_rollout_halts (org_id, component, version, attempts, failures) values ($1, 'agent', '2.0.0', 20, 9)`,
    [at.orgId],
  );
  t.like((await status(at.orgAdmin.token)).halted, [{ attempts: 20, failures: 9 }] as never);
  const [halt] = (await status(narrow.token)).halted;
  t.false('attempts' in (halt ?? {}) || 'failures' in (halt ?? {}), 'these count devices of other sites');
  t.deepEqual((await status(narrow.token)).failing, []);
  t.is((await platform.call('GET', `/agent-versions/status?siteId=${at.siteId}`, { token: narrow.token })).status, 403);
  t.is(
    (await platform.call('GET', `/agent-versions/status?orgId=${at.orgId}`, { token: other.orgAdmin.token })).status,
    403,
  );
  t.is((await status(admin.token, `orgId=${at.orgId}`)).failing.length, 1);
});
