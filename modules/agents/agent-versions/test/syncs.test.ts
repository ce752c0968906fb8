/** Registering releases from a release host and from a folder. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { startTestPlatform, systemUser, tenant } from '#test';
import {
  layOut,
  newFolder,
  newSigner,
  ReleaseHost,
  runJob,
  sha256,
  signer,
  startLocal,
  sync,
  versionId,
  versions,
} from './ground.ts';

const host = await new ReleaseHost().start();
const remote = await startTestPlatform({ ...host.env, AGENT_VERSION_SYNC: 'true' });
const { test: local, folder } = await startLocal();
const [admin, localAdmin] = [await systemUser(remote), await systemUser(local)];
test.after.always(async () => {
  await remote.stop();
  await local.stop();
  await host.stop();
});
const ALL = ['agent:linux/amd64', 'agent:windows/amd64', 'watchdog:linux/amd64'];

test.serial(
  'the newest release that is not a prerelease is verified, registered and promoted; a second sync skips it',
  async (t) => {
    host.publish('1.0.0');
    host.publish('1.1.0-rc.1');
    const { status, body } = await sync(remote, admin.token);
    t.is(status, 200, JSON.stringify(body));
    t.deepEqual(body, { version: '1.0.0', synced: ALL, skipped: [] } as never);
    const [row] = await versions(remote, admin.token, 'component=agent&platform=linux');
    t.like(row, {
      version: '1.0.0',
      state: 'promoted',
      isLatest: true,
      downloadUrl: `${host.url}/assets/1.0.0/agent-linux-amd64`,
    });
    const asked = host.asked.length;
    const again = await sync(remote, admin.token);
    t.deepEqual(again.body.synced, []);
    t.deepEqual(
      again.body.skipped,
      ALL.map((name) => ({ name, reason: 'ALREADY_REGISTERED' })),
    );
    const later = host.asked.slice(asked);
    t.is(later[0]?.status, 304, 'an unchanged release does not count against the rate limit');
    t.false(
      later.some(({ path }) => /amd64(\.exe)?$/.test(path)),
      'programs are not fetched again',
    );
    const entries = (await remote.audits({ action: 'agent_version.sync' })).map(({ details }) => details);
    t.deepEqual(entries, [{ version: '1.0.0', source: 'github', synced: ALL }]);
  },
);

test.serial('the token is sent to the release host and never to the asset host', (t) => {
  const api = host.asked.filter(({ path }) => path.startsWith('/repos'));
  const assets = host.asked.filter(({ path }) => !path.startsWith('/repos'));
  t.true(api.length > 0 && assets.length > 0);
  t.true(api.every(({ headers }) => headers.authorization === 'Bearer release-token'));
  t.true(assets.every(({ headers }) => headers.authorization === undefined));
});

test.serial('a version may be given, with or without v; a prerelease is registered and not promoted', async (t) => {
  t.is((await sync(remote, admin.token, '7.7.7')).body.error.code, 'NOT_FOUND');
  t.is((await sync(remote, admin.token, 'soon')).status, 400);
  t.is((await sync(remote, admin.token, 'v1.1.0-rc.1')).body.version, '1.1.0-rc.1');
  const [newest] = await versions(remote, admin.token, 'component=agent&platform=linux');
  t.like(newest, { version: '1.1.0-rc.1', state: 'registered', isLatest: false });
});

test.serial('one wrong program rejects the whole release, with the reason, and the attempt is audited', async (t) => {
  const broken: [string, string, (files: Map<string, Buffer>) => void][] = [
    [
      '1.2.0',
      'CHECKSUM_MISMATCH',
      (files) => files.set('watchdog-linux-amd64', Buffer.from('#!/bin/sh\necho watchdog-linux-amd64 1.2.1\n')),
    ],
    [
      '1.2.1',
      'CHECKSUM_MISMATCH',
      (files) => files.set('watchdog-linux-amd64', Buffer.from('longer than it was signed: '.repeat(9))),
    ],
    [
      '1.2.2',
      'CHECKSUM_MISMATCH',
      (files) => files.set('checksums.txt', Buffer.from(`${'0'.repeat(64)}  agent-linux-amd64\n`)),
    ],
    ['1.2.3', 'MANIFEST_INVALID', (files) => files.delete('agent-linux-amd64.sig')],
    ['1.2.4', 'MANIFEST_INVALID', (files) => files.set('agent-linux-amd64.manifest.json', Buffer.from('{}'))],
    [
      '1.2.5',
      'MANIFEST_INVALID',
      (files) =>
        files.set('agent-linux-amd64.manifest.json', files.get('watchdog-linux-amd64.manifest.json') as Buffer),
    ],
    [
      '1.2.6',
      'MANIFEST_INVALID',
      (files) => {
        files.set('agent-linux-amd64.manifest.json', files.get('watchdog-linux-amd64.manifest.json') as Buffer);
        files.set('agent-linux-amd64.sig', files.get('watchdog-linux-amd64.sig') as Buffer);
      },
    ],
    ['1.2.7', 'MANIFEST_INVALID', (files) => files.delete('checksums.txt')],
  ];
  for (const [version, code, damage] of broken) {
    damage(host.publish(version));
    const { status, body } = await sync(remote, admin.token, version);
    t.deepEqual([status, body.error?.code], [422, code], version);
    t.is((await versions(remote, admin.token, 'limit=100')).filter((row) => row.version === version).length, 0);
  }
  host.publish('1.2.8', ['agent-linux-amd64'], newSigner('stranger'));
  t.is((await sync(remote, admin.token, '1.2.8')).body.error.code, 'MANIFEST_INVALID', 'a key that is not trusted');
  host.publish('1.2.9', ['agent-linux-amd64'], { ...newSigner(), keyId: signer.keyId });
  t.is(
    (await sync(remote, admin.token, '1.2.9')).body.error.code,
    'MANIFEST_INVALID',
    'another key under a trusted name',
  );
  for (const version of host.releases.keys()) if (version.startsWith('1.2.')) host.releases.delete(version);
  const failed = await remote.audits({ action: 'agent_version.sync.failed' });
  t.true(failed.length >= 10);
  t.true(failed.every(({ result }) => result === 'failure'));
});

test.serial('a published version never changes: another checksum is rejected and the first one stays', async (t) => {
  const { checksum } = (await versions(remote, admin.token, 'component=agent&platform=linux')).find(
    ({ version }) => version === '1.0.0',
  ) ?? { checksum: '' };
  const files = host.publish('1.0.0', ['agent-linux-amd64']);
  const other = Buffer.from('another program');
  files.set('agent-linux-amd64', other);
  const { signProgram } = await import('../../../../agent/signing/folder.ts');
  const { text, signature } = signProgram(
    'agent-linux-amd64',
    { sha256: sha256(other), size: other.length },
    { version: '1.0.0', ...signer },
    new Date(),
  );
  files.set('agent-linux-amd64.manifest.json', Buffer.from(text));
  files.set('agent-linux-amd64.sig', Buffer.from(signature));
  files.set('checksums.txt', Buffer.from(`${sha256(other)}  agent-linux-amd64\n`));
  const { status, body } = await sync(remote, admin.token, '1.0.0');
  t.deepEqual([status, body.error.code], [422, 'VERSION_CHANGED']);
  const [row] = await remote.sql<{ checksum: string }>(`select checksum from agent_versions where id = $1`, [
    await versionId(remote, '1.0.0'),
  ]);
  t.is(row?.checksum, checksum);
});

test.serial('assets come only from hosts that the operator allows, redirects included', async (t) => {
  host.publish('1.3.0');
  host.assetsAt = host.url.replace('127.0.0.1', 'localhost');
  const { status, body } = await sync(remote, admin.token, '1.3.0');
  t.deepEqual([status, body.error.code], [502, 'UPSTREAM_ERROR']);
  t.regex(body.error.message, /localhost/);
  host.assetsAt = null;
  t.is((await sync(remote, admin.token, '1.3.0')).status, 200);
});

test.serial('a release host that fails is 502, and the hourly job registers new releases', async (t) => {
  host.publish('1.4.0');
  await runJob(remote, 'sync-versions');
  t.is((await versions(remote, admin.token, 'component=agent&platform=linux&state=promoted'))[0]?.version, '1.4.0');
  const away = await startTestPlatform({ ...host.env, AGENT_RELEASE_API_URL: 'http://127.0.0.1:9' });
  t.is((await sync(away, (await systemUser(away)).token)).status, 502);
  await away.stop();
  const bare = await startTestPlatform();
  t.is((await sync(bare, (await systemUser(bare)).token)).body.error.code, 'RELEASE_SOURCE_MISSING');
  await bare.stop();
});

test.serial('a folder works as well, without any outbound request', async (t) => {
  await layOut(folder, '2.0.0');
  await layOut(folder, '2.1.0-rc.1', ['agent-linux-amd64']);
  const before = host.asked.length;
  t.deepEqual((await sync(local, localAdmin.token)).body, { version: '2.0.0', synced: ALL, skipped: [] } as never);
  t.deepEqual((await sync(local, localAdmin.token)).body.synced, []);
  t.is((await sync(local, localAdmin.token, '9.9.9')).status, 404);
  t.is(host.asked.length, before);
  const place = await layOut(folder, '2.2.0');
  await writeFile(join(place, 'agent-linux-amd64'), 'replaced after it was signed');
  t.is((await sync(local, localAdmin.token, '2.2.0')).body.error.code, 'CHECKSUM_MISMATCH');
  await layOut(folder, '2.3.0', ['agent-linux-amd64'], { minServerVersion: '99.0.0' });
  t.deepEqual((await sync(local, localAdmin.token, '2.3.0')).body.skipped, [
    { name: 'agent:linux/amd64', reason: 'SERVER_TOO_OLD' },
  ]);
  await layOut(folder, '2.4.0', ['agent-linux-amd64'], { expiresAt: '2020-01-01T00:00:00.000Z' });
  t.is((await sync(local, localAdmin.token, '2.4.0')).body.error.code, 'MANIFEST_INVALID');
  const lost = await startTestPlatform({ BINARY_SOURCE: 'local', AGENT_BINARY_DIR: `${await newFolder()}/none` });
  t.is((await sync(lost, (await systemUser(lost)).token)).body.error.code, 'RELEASE_SOURCE_MISSING');
  await lost.stop();
});

test.serial('two concurrent syncs register each program once', async (t) => {
  await layOut(folder, '3.0.0');
  const both = await Promise.all([sync(local, localAdmin.token, '3.0.0'), sync(local, localAdmin.token, '3.0.0')]);
  t.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  t.is(both.flatMap(({ body }) => body.synced).length, 3);
});

test.serial('only system users may sync, promote and withdraw, with a second factor', async (t) => {
  const strict = await startLocal();
  const mine = await tenant(strict.test);
  await strict.test.sql(`update users set mfa_enabled = true, mfa_method = 'totp'`);
  const weak = await systemUser(strict.test, { mfa: false });
  const id = '11111111-1111-4111-8111-111111111111';
  for (const path of ['sync-remote', `${id}/promote`, `${id}/withdraw`]) {
    for (const { token } of [mine.partner, mine.orgAdmin, mine.viewer]) {
      t.is((await strict.test.call('POST', `/agent-versions/${path}`, { token })).status, 403, path);
    }
    await strict.test.sql(`update users set mfa_enabled = true, mfa_method = 'totp'`);
    const refused = await strict.test.call('POST', `/agent-versions/${path}`, { token: weak.token });
    t.is(refused.status, 403, path);
  }
  await strict.test.stop();
});
