/** Retention: policies, and chains that stay provable when their old entries go. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { orgUser, startTestPlatform, systemUser, tenant } from '#test';
import { verifyOffline } from '../../../../../core/audit/test/outsider.ts';
import { addJob, failures, signAll } from '../jobs.ts';
import { aged, forgetFailures, left, policy, runRetention, setPolicy, verify } from './ground.ts';

const platform = await startTestPlatform();
const folder = await mkdtemp(join(tmpdir(), 'quartermaster-retention-'));
test.after.always(async () => {
  await platform.stop();
  await rm(folder, { recursive: true });
});

test.serial('a policy has its defaults, is set in parts, and each change is recorded', async (t) => {
  const made = await tenant(platform);
  const { token } = made.orgAdmin;
  const defaults = { orgId: made.orgId, retentionDays: 365, archiveToS3: false, lastCleanupAt: null };
  t.deepEqual((await policy(platform, token)).data, defaults);
  t.deepEqual((await setPolicy(platform, token, { archiveToS3: true })).body.data, { ...defaults, archiveToS3: true });
  const changed = await setPolicy(platform, made.partner.token, { retentionDays: 30 }, `orgId=${made.orgId}`);
  t.deepEqual(changed.body.data, { ...defaults, archiveToS3: true, retentionDays: 30 });
  t.deepEqual((await policy(platform, token)).data, changed.body.data);
  const recorded = await platform.audits({ action: 'audit_logs.retention.update', orgId: made.orgId });
  t.like(recorded[1]?.details, {
    before: { retentionDays: 365, archiveToS3: true },
    after: { retentionDays: 30, archiveToS3: true },
  });
});

test.serial('a policy refuses what is out of its limits, and callers who may not', async (t) => {
  const [made, stranger] = [await tenant(platform), await tenant(platform)];
  const { token } = made.orgAdmin;
  for (const body of [{ retentionDays: 0 }, { retentionDays: 3651 }, { retentionDays: 1.5 }, { other: 1 }]) {
    t.is((await setPolicy(platform, token, body)).body.error.code, 'VALIDATION_ERROR', JSON.stringify(body));
  }
  t.is((await setPolicy(platform, token, {})).body.error.code, 'NO_UPDATES');
  t.is((await setPolicy(platform, made.partner.token, { retentionDays: 9 })).body.error.code, 'ORG_REQUIRED');
  t.is((await setPolicy(platform, made.viewer.token, { retentionDays: 9 })).status, 403);
  for (const { token: foreign } of [stranger.partner, stranger.orgAdmin]) {
    t.is((await setPolicy(platform, foreign, { retentionDays: 9 }, `orgId=${made.orgId}`)).status, 403);
    t.is((await policy(platform, foreign, `orgId=${made.orgId}`)).error.code, 'ORG_ACCESS_DENIED');
  }
  const { token: system } = await systemUser(platform);
  t.is(
    (await setPolicy(platform, system, { retentionDays: 9 }, 'orgId=11111111-1111-4111-8111-111111111111')).status,
    404,
  );
  t.is((await policy(platform, token)).data.retentionDays, 365);
});

test.serial('a policy is set only with a second factor', async (t) => {
  const guarded = await startTestPlatform();
  const { orgId } = await tenant(guarded);
  const bare = await orgUser(guarded, { orgId, mfa: false });
  t.is((await setPolicy(guarded, bare.token, { retentionDays: 9 })).body.error.code, 'MFA_VERIFICATION_REQUIRED');
  await guarded.stop();
});

test.serial('what is past its time goes, the rest stays provable, on the server and outside', async (t) => {
  const made = await aged(platform, 30, 20);
  const { token } = made.orgAdmin;
  await runRetention(platform);
  t.is((await left(platform, made.orgId)).length, 30, 'within a year nothing goes');
  await setPolicy(platform, token, { retentionDays: 30 });
  await runRetention(platform);
  t.deepEqual(await failures(platform), []);
  t.deepEqual(await left(platform, made.orgId), [21, 22, 23, 24, 25, 26, 27, 28, 29, 30]);
  t.truthy((await policy(platform, token)).data.lastCleanupAt);
  const [anchor] = await platform.sql('select seq::int, count::int from audit_anchors where owner = $1', [
    `org:${made.orgId}`,
  ]);
  t.deepEqual(anchor, { seq: 20, count: 20 });
  // Two entries more: the policy's change and the pruning.
  await signAll(platform);
  t.like(await verify(platform, token), { ok: true, checked: 12, checkpoints: 2, firstBad: null });
  const pruned = await platform.audits({ action: 'audit_logs.prune', orgId: made.orgId });
  t.like(pruned[0], { actor_type: 'system', details: { pruned: 20, archives: [] } });
  const answer = await fetch(`${platform.url}/api/v1/audit-logs/chain-export`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const file = join(folder, 'after-retention.ndjson');
  await writeFile(file, await answer.text());
  const { body } = await platform.call<{ data: { current: { verifierKey: string } } }>('GET', '/audit-logs/public-key');
  t.deepEqual(await verifyOffline('--key', body.data.current.verifierKey, file), {
    code: 0,
    said: `PASS  org:${made.orgId}: rows 21 to 32 are whole; rows 1 to 20 are not here: pruned, or left out of this export; all of them are under a signed checkpoint`,
  });
  // Proofs of what stayed, and from checkpoints before the pruning, still hold: the tree keeps all its hashes.
  const list = await platform.call<{ data: { id: string; size: number }[] }>('GET', '/audit-logs/checkpoints', {
    token,
  });
  const [second, first] = list.body.data;
  const proof = await platform.call('GET', `/audit-logs/proofs/consistency?from=${first?.id}&to=${second?.id}`, {
    token,
  });
  t.is(proof.status, 200);
  await platform.sql(
    `alter table audit_logs disable trigger audit_logs_append_only;
     delete from audit_logs where org_id = '${made.orgId}' and seq = 21;
     alter table audit_logs enable always trigger audit_logs_append_only`,
  );
  t.like(await verify(platform, token), { ok: false, firstBad: { seq: 22, problem: 'missing before' } });
  const cut = await fetch(`${platform.url}/api/v1/audit-logs/chain-export`, {
    headers: { authorization: `Bearer ${token}` },
  });
  await writeFile(file, await cut.text());
  const outside = await verifyOffline('--key', body.data.current.verifierKey, file);
  t.is(outside.code, 1);
  t.regex(outside.said, /^FAIL {2}row 22 \S+: missing before/);
});

test.serial('names that only pruned entries held are forgotten, and those of the rest are still found', async (t) => {
  const made = await aged(platform, 6, 4);
  await setPolicy(platform, made.orgAdmin.token, { retentionDays: 30 });
  const known = async () =>
    (
      await platform.sql<{ name: string }>(
        `select split_part(name, chr(10), 2) as name from audit_names where org_id = $1 and name like 'site%Entry%' order by 1`,
        [made.orgId],
      )
    ).map(({ name }) => name);
  t.is((await known()).length, 6);
  await runRetention(platform);
  t.deepEqual(await known(), ['Entry 5', 'Entry 6']);
  const found = await platform.call<{ data: unknown[] }>('GET', '/audit-logs/logs?resource=entry&action=site.update', {
    token: made.orgAdmin.token,
  });
  t.is(found.body.data.length, 2);
});

test.serial('only what a checkpoint covers goes, and only up to the first entry that is young enough', async (t) => {
  const made = await aged(platform, 0, 0);
  const at = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
  const entry = (days: number) => ({
    orgId: made.orgId,
    at: at(days),
    actorType: 'user',
    action: 'site.update',
    resourceType: 'site',
    details: {},
    result: 'success',
  });
  const audits = [entry(50), entry(50), entry(1), entry(50)];
  await platform.sql('select flush_effects($1::jsonb)', [JSON.stringify({ audits })]);
  await setPolicy(platform, made.orgAdmin.token, { retentionDays: 30 });
  await platform.platform.settle();
  await runRetention(platform);
  t.is((await left(platform, made.orgId)).length, 4, 'no checkpoint, no pruning');
  await signAll(platform);
  await runRetention(platform);
  t.deepEqual(await left(platform, made.orgId), [3, 4]);
  t.like(await verify(platform, made.orgAdmin.token), { ok: true });
});

test.serial('a chain that does not fit is not pruned: the evidence stays', async (t) => {
  const [altered, rewritten] = [await aged(platform, 5, 3), await aged(platform, 5, 3)];
  await platform.sql(
    `alter table audit_logs disable trigger audit_logs_append_only;
     update audit_logs set action = 'site.update ' where org_id = '${altered.orgId}' and seq = 2;
     update audit_logs set checksum = repeat('0', 64) where org_id = '${rewritten.orgId}' and seq = 1;
     alter table audit_logs enable always trigger audit_logs_append_only`,
  );
  for (const { orgAdmin } of [altered, rewritten]) await setPolicy(platform, orgAdmin.token, { retentionDays: 30 });
  await runRetention(platform);
  const failed = await failures(platform);
  t.is(failed.length, 2);
  for (const { error } of failed) t.regex(error, /row [12] \S+ is altered/);
  await forgetFailures(platform);
  const [count] = await platform.sql('select count(*)::int as n from audit_logs where org_id = any($1) and seq <= 5', [
    [altered.orgId, rewritten.orgId],
  ]);
  t.is(count?.n, 10);
});

test.serial('two runs at once delete once, and each entry is counted once', async (t) => {
  const made = await aged(platform, 9, 8);
  await setPolicy(platform, made.orgAdmin.token, { retentionDays: 30 });
  await addJob(platform, 'audit/prune-organization', { orgId: made.orgId });
  await addJob(platform, 'audit/prune-organization', { orgId: made.orgId });
  await Promise.all([platform.runJobs(), platform.runJobs()]);
  t.deepEqual(await left(platform, made.orgId), [9]);
  const pruned = await platform.audits({ action: 'audit_logs.prune', orgId: made.orgId });
  t.is(
    pruned.reduce((sum, { details }) => sum + Number(details.pruned), 0),
    8,
  );
  t.deepEqual(await failures(platform), []);
  t.like(await verify(platform, made.orgAdmin.token), { ok: true });
});

test.serial('the audit admin deletes only below an anchor, changes nothing, and only with the setting', async (t) => {
  const made = await aged(platform, 4, 2);
  const { owner } = platform.platform.tasks.work.database;
  const as = async (setting: string, statement: string) => {
    const client = await owner.connect();
    try {
      await client.query(
        `begin; set local role quartermaster_audit_admin; set local app.audit_retention = '${setting}'`,
      );
      await client.query(statement);
    } finally {
      await client.query('rollback');
      client.release();
    }
  };
  const remove = `delete from audit_logs where org_id = '${made.orgId}'`;
  await t.throwsAsync(as('on', remove), { message: /append-only/ }, 'no anchor');
  await setPolicy(platform, made.orgAdmin.token, { retentionDays: 30 });
  await runRetention(platform);
  t.deepEqual(await left(platform, made.orgId), [3, 4]);
  await t.throwsAsync(as('on', remove), { message: /append-only/ }, 'above the anchor');
  await t.throwsAsync(as('off', `${remove} and seq <= 2; ${remove}`), { message: /append-only/ });
  await t.throwsAsync(as('on', `update audit_logs set action = 'x'`), { message: /permission denied/ });
  await t.throwsAsync(as('on', 'truncate audit_logs'), { message: /permission denied/ });
  await t.throwsAsync(
    as('on', `create temp table audit_anchors as select '${`org:${made.orgId}`}' as owner, 99 as seq; ${remove}`),
    {
      message: /append-only|permission denied/,
    },
  );
});
