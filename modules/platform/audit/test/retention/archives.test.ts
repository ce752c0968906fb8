/** What retention deletes is archived first; nothing is lost when the archive fails. */
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import test from 'ava';
import { openS3Server, startTestPlatform } from '#test';
import { verifyOffline } from '../../../../../core/audit/test/outsider.ts';
import { failures } from '../jobs.ts';
import { aged, forgetFailures, left, policy, runRetention, setPolicy, verify } from './ground.ts';

const store = await openS3Server();
const [platform, plain] = await Promise.all([startTestPlatform(store.env), startTestPlatform()]);
const folder = await mkdtemp(join(tmpdir(), 'quartermaster-retention-'));
test.after.always(async () => {
  await Promise.all([platform.stop(), plain.stop()]);
  await store.close();
  await rm(folder, { recursive: true });
});

test.serial('rows go to the bucket first, in a form that the offline verifier reads', async (t) => {
  const made = await aged(platform, 12, 7);
  const { token } = made.orgAdmin;
  await setPolicy(platform, token, { retentionDays: 30, archiveToS3: true });
  await runRetention(platform);
  t.deepEqual(await failures(platform), []);
  t.deepEqual(await left(platform, made.orgId), [8, 9, 10, 11, 12]);
  const name = `audit/archive/org-${made.orgId}/000000000001-000000000007.ndjson.gz`;
  const archived = await store.read(name);
  const file = join(folder, 'archive.ndjson.gz');
  await writeFile(file, archived);
  const { body } = await platform.call<{ data: { current: { verifierKey: string } } }>('GET', '/audit-logs/public-key');
  const checked = await verifyOffline('--key', body.data.current.verifierKey, '--partial', file);
  t.deepEqual(checked, {
    code: 0,
    said: `PASS  org:${made.orgId}: rows 1 to 7 are whole; all of them are under a signed checkpoint`,
  });
  t.true((await store.keys()).some((key) => key.startsWith('audit/checkpoints/')));
  t.is(store.state.refused, 0);
  const [recorded] = await platform.audits({ action: 'audit_logs.prune', orgId: made.orgId });
  t.deepEqual(recorded?.details, { pruned: 7, archives: [name] });
  t.like(await verify(platform, token), { ok: true });
});

test.serial('nothing is deleted while the archive fails, or keeps only part of it; then it goes on', async (t) => {
  const made = await aged(platform, 6, 4);
  const { token } = made.orgAdmin;
  await setPolicy(platform, token, { retentionDays: 30, archiveToS3: true });
  for (const fault of ['failing', 'losing'] as const) {
    store.state[fault] = true;
    await runRetention(platform);
    store.state[fault] = false;
    t.is((await left(platform, made.orgId)).length, 6, fault);
    const failed = await failures(platform);
    t.is(failed[0]?.task, 'audit/prune-organization', fault);
    await forgetFailures(platform);
  }
  t.is((await policy(platform, token)).data.lastCleanupAt, null);
  t.deepEqual(await platform.audits({ action: 'audit_logs.prune', orgId: made.orgId }), []);
  await runRetention(platform);
  t.deepEqual(await failures(platform), []);
  t.deepEqual(await left(platform, made.orgId), [5, 6]);
});

test.serial('without a bucket the archive is a folder of the installation', async (t) => {
  const made = await aged(plain, 5, 3);
  await setPolicy(plain, made.orgAdmin.token, { retentionDays: 30, archiveToS3: true });
  await runRetention(plain);
  const names = await readdir(join(plain.dataDir, 'archive', 'audit', 'archive', `org-${made.orgId}`));
  t.deepEqual(names, ['000000000001-000000000003.ndjson.gz']);
  t.deepEqual(await left(plain, made.orgId), [4, 5]);
});

test.serial('what a process that was killed left of an archive goes a day later', async (t) => {
  const place = join(plain.dataDir, 'archive', 'audit', 'archive', 'killed');
  await mkdir(place, { recursive: true });
  const draft = () => join(place, `000000000001-000000000003.ndjson.gz.${randomUUID()}`);
  const [old, young] = [draft(), draft()];
  for (const path of [old, young]) await writeFile(path, 'half');
  await utimes(old, 0, 0);
  await runRetention(plain);
  t.deepEqual(await readdir(place), [basename(young)]);
  await rm(place, { recursive: true });
});
