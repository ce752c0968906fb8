/** Promoting, withdrawing, listing and fetching versions. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { type ErrorBody, systemUser, tenant } from '#test';
import { variables } from '../variables.ts';
import {
  forget,
  layOut,
  NAMES,
  newAgent,
  programOf,
  sendHeartbeat,
  sha256,
  signer,
  startLocal,
  sync,
  type VersionSeen,
  versionId,
  versions,
} from './ground.ts';

const { test: platform, folder } = await startLocal({ AGENT_AUTO_PROMOTE: 'false' });
const admin = await systemUser(platform);
test.after.always(() => platform.stop());
const { token } = admin;
const act = async (version: string, what: 'promote' | 'withdraw', body?: object, component = 'agent') =>
  platform.call<{ data: VersionSeen } & ErrorBody>(
    'POST',
    `/agent-versions/${await versionId(platform, version, component)}/${what}`,
    { token, ...(body ? { body } : {}) },
  );
const state = async (version: string) => {
  const [row] = await platform.sql<{ state: string; is_latest: boolean }>(
    'select state, is_latest from agent_versions where id = $1',
    [await versionId(platform, version)],
  );
  return row;
};
const LINUX = 'platform=linux&arch=amd64';
const latest = (query = LINUX) =>
  platform.call<VersionSeen & { manifest: string; signingKeyId: string } & ErrorBody>(
    'GET',
    `/agent-versions/latest?${query}`,
  );
const raw = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${platform.url}/api/v1${path}`, { headers, redirect: 'manual' });

test.serial('a registered version is not offered; promoting it makes it the latest, once', async (t) => {
  await layOut(folder, '1.0.0');
  await sync(platform, token, '1.0.0');
  t.deepEqual(await state('1.0.0'), { state: 'registered', is_latest: false });
  t.is((await latest()).status, 404);
  const { status, body } = await act('1.0.0', 'promote');
  t.is(status, 200);
  t.like(body.data, { state: 'promoted', isLatest: true, version: '1.0.0' });
  const again = await act('1.0.0', 'promote');
  t.deepEqual([again.status, again.body.error.code], [409, 'INVALID_STATE']);
  t.is((await platform.call('POST', `/agent-versions/${crypto.randomUUID()}/promote`, { token })).status, 404);
  const [entry] = await platform.audits({ action: 'agent_version.promote' });
  t.like(entry, {
    actor_id: admin.id,
    details: { version: '1.0.0', from: 'registered', to: 'promoted', isLatest: true },
  });
});

test.serial('promoting a newer version makes it the latest, promoting an older one does not', async (t) => {
  for (const version of ['0.9.0', '1.10.0', '1.9.0']) {
    await layOut(folder, version, ['agent-linux-amd64']);
    await sync(platform, token, version);
  }
  await act('1.9.0', 'promote');
  await act('1.10.0', 'promote');
  await act('0.9.0', 'promote');
  t.deepEqual(await state('1.0.0'), { state: 'promoted', is_latest: false });
  t.deepEqual(await state('1.9.0'), { state: 'promoted', is_latest: false });
  t.deepEqual(await state('1.10.0'), { state: 'promoted', is_latest: true }, 'ten is more than nine');
  t.deepEqual(await state('0.9.0'), { state: 'promoted', is_latest: false });
  t.is((await latest()).body.version, '1.10.0');
});

test.serial('of two concurrent promotions one succeeds', async (t) => {
  const both = await Promise.all([
    act('1.0.0', 'promote', undefined, 'watchdog'),
    act('1.0.0', 'promote', undefined, 'watchdog'),
  ]);
  t.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);
});

test.serial('a prerelease is promoted only with force, and is not in the stable channel', async (t) => {
  await layOut(folder, '2.0.0-rc.1', ['agent-linux-amd64']);
  await sync(platform, token, '2.0.0-rc.1');
  const refused = await act('2.0.0-rc.1', 'promote');
  t.deepEqual([refused.status, refused.body.error.code], [409, 'PRERELEASE']);
  t.is((await act('2.0.0-rc.1', 'promote', { force: true })).body.data.isLatest, true);
  t.is((await latest()).body.version, '1.10.0');
  t.is((await latest(`${LINUX}&channel=candidate`)).body.version, '2.0.0-rc.1');
  await act('2.0.0-rc.1', 'withdraw');
});

test.serial('a withdrawn version is never served again, and the one before it is the latest', async (t) => {
  t.like((await act('1.10.0', 'withdraw')).body.data, { state: 'withdrawn', isLatest: false });
  t.deepEqual(await state('1.9.0'), { state: 'promoted', is_latest: true });
  t.is((await latest()).body.version, '1.9.0');
  for (const [what, code] of [
    ['withdraw', 409],
    ['promote', 409],
  ] as const)
    t.is((await act('1.10.0', what)).status, code);
  const link = await platform.call<ErrorBody>('GET', `/agent-versions/1.10.0/download?${LINUX}`, { token });
  t.deepEqual([link.status, link.body.error.code], [410, 'VERSION_WITHDRAWN']);
  t.is((await raw('/agents/download/linux/amd64?version=1.10.0')).status, 410);
  t.is((await platform.audits({ action: 'agent_version.withdraw' })).length, 2);
});

test.serial(
  'installers get the latest version with its signed manifest, by any alias of platform and architecture',
  async (t) => {
    const { body } = await latest('platform=linux&arch=x64');
    t.like(body, {
      version: '1.9.0',
      component: 'agent',
      platform: 'linux',
      architecture: 'amd64',
      signingKeyId: 'release-1',
    });
    t.is(body.checksum, sha256(programOf('1.9.0', 'agent-linux-amd64')));
    t.is(JSON.parse(body.manifest).sha256, body.checksum);
    t.is((await latest('platform=darwin&arch=aarch64')).status, 404);
    t.is((await latest('platform=beos&arch=amd64')).status, 400);
    t.is((await latest('platform=linux&arch=mips')).status, 400);
    t.is((await latest('platform=linux')).status, 400);
    t.is((await latest(`${LINUX}&component=viewer`)).status, 400, 'there is no such program');
  },
);

test.serial(
  'the link to a version requires an agent or a signed-in user, and also serves versions that are not promoted',
  async (t) => {
    const at = await tenant(platform);
    const agent = await newAgent(platform, at);
    const path = (version: string, more = '') => `/agent-versions/${version}/download?${LINUX}${more}`;
    const named = `&agentId=${agent.agentId}`;
    t.is((await platform.call('GET', path('1.9.0'))).status, 401);
    t.is((await platform.call('GET', path('1.9.0'), { token: 'x' })).status, 401);
    t.is(
      (await platform.call('GET', path('1.9.0'), { token: agent.token })).status,
      401,
      'it has to say which agent it is',
    );
    t.is((await platform.call('GET', path('1.9.0', `&agentId=${'0'.repeat(64)}`), { token: agent.token })).status, 401);
    t.is((await platform.call('GET', path('8.8.8', named), { token: agent.token })).status, 404);
    const given = await platform.call<{ url: string; checksum: string }>('GET', path('1.9.0', named), {
      token: agent.token,
    });
    t.is(given.status, 200);
    t.is((await platform.call('GET', path('1.9.0'), { token: at.viewer.token })).status, 200);
    await layOut(folder, '1.11.0', ['agent-linux-amd64']);
    await sync(platform, token, '1.11.0');
    t.is((await raw('/agents/download/linux/amd64?version=1.11.0')).status, 404, 'it needs a signed link');
    const canary = await platform.call<{ url: string }>('GET', path('v1.11.0', named), { token: agent.token });
    const link = new URL(canary.body.url).pathname.replace('/api/v1', '') + new URL(canary.body.url).search;
    t.is(await (await raw(link)).text(), programOf('1.11.0', 'agent-linux-amd64'));
    t.is((await raw(link.replace(/signature=.{4}/, 'signature=0000'))).status, 404);
    t.is((await raw(link.replace(/expires=\d+/, 'expires=1'))).status, 404);
  },
);

test.serial('files are served whole, in ranges, or not at all when the client has them', async (t) => {
  const bytes = programOf('1.9.0', 'agent-linux-amd64');
  const whole = await raw('/agents/download/linux/x64');
  t.is(whole.status, 200);
  t.is(whole.headers.get('content-length'), String(bytes.length));
  const etag = whole.headers.get('etag') ?? '';
  t.is(etag, `"${sha256(bytes)}"`);
  t.is(await whole.text(), bytes);
  const part = await raw('/agents/download/linux/amd64', { range: 'bytes=3-6' });
  t.deepEqual(
    [part.status, part.headers.get('content-range'), await part.text()],
    [206, `bytes 3-6/${bytes.length}`, bytes.slice(3, 7)],
  );
  const rest = await raw('/agents/download/linux/amd64', { range: `bytes=${bytes.length - 5}-`, 'if-range': etag });
  t.deepEqual([rest.status, await rest.text()], [206, bytes.slice(-5)]);
  t.is((await raw('/agents/download/linux/amd64', { range: 'bytes=9999-' })).status, 416);
  t.is((await raw('/agents/download/linux/amd64', { 'if-none-match': etag })).status, 304);
  t.is((await raw('/agents/download/plan9/amd64')).status, 400);
  t.is((await raw('/agents/download/linux/arm64')).status, 404);
  t.is((await raw('/agents/download/linux/amd64?component=viewer')).status, 400);
});

test.serial('a file that is missing or was replaced is not served', async (t) => {
  await layOut(folder, '1.12.0', NAMES);
  await sync(platform, token, '1.12.0');
  await act('1.12.0', 'promote', undefined, 'watchdog');
  const path = '/agents/download/linux/amd64?component=watchdog&version=1.12.0';
  t.is((await raw(path)).status, 200);
  await rm(join(folder, '1.12.0', 'watchdog-linux-amd64'));
  t.is((await raw(path)).status, 404);
});

test.serial(
  'a version signed with a key that is no longer trusted is neither listed as latest, linked nor offered',
  async (t) => {
    const at = await tenant(platform);
    const agent = await newAgent(platform, at);
    t.is((await sendHeartbeat(agent, '1.0.0')).upgradeTo?.version, '1.9.0');
    const { manifestTrustKeys } = await sendHeartbeat(agent, '1.0.0');
    t.deepEqual(agent.enrolled.manifestTrustKeys, manifestTrustKeys, 'agents pin the keys of their enrollment');
    t.deepEqual(manifestTrustKeys, [signer.trust.split(':')[1]] as string[]);
    const { trustKeys } = variables.of(platform.platform.tasks.work.services.config);
    t.is(trustKeys.length, 1);
    await platform.sql(`update agent_versions set signing_key_id = 'retired' where version = '1.9.0'`);
    forget(platform);
    t.is((await latest()).status, 404);
    const link = await platform.call<ErrorBody>('GET', `/agent-versions/1.9.0/download?${LINUX}`, { token });
    t.deepEqual([link.status, link.body.error.code], [409, 'MANIFEST_NOT_TRUSTED']);
    const second = await newAgent(platform, at);
    t.is((await sendHeartbeat(second, '1.0.0')).upgradeTo, null);
    await platform.sql(`update agent_versions set signing_key_id = $1 where version = '1.9.0'`, [signer.keyId]);
    await platform.sql(`update agent_versions set manifest_signature = $1 where version = '1.9.0'`, [
      Buffer.alloc(64, 7).toString('base64'),
    ]);
    forget(platform);
    t.is((await sendHeartbeat(second, '1.0.0')).upgradeTo, null, 'a forged signature');
    await platform.sql(`update agent_versions v set manifest_signature = w.manifest_signature from agent_versions w
    where v.version = '1.9.0' and w.id = v.id`);
  },
);

test.serial(
  'the list is newest first, in pages and by cursor, and counts only devices that the caller may see',
  async (t) => {
    const [mine, theirs] = [await tenant(platform), await tenant(platform)];
    await newAgent(platform, mine, { agentVersion: '1.0.0' });
    await newAgent(platform, mine, { agentVersion: '1.0.0', architecture: 'arm64' });
    await newAgent(platform, theirs, { agentVersion: '1.0.0' });
    const query = 'component=agent&platform=linux&architecture=x64&limit=100';
    const seen = await versions(platform, mine.viewer.token, query);
    t.deepEqual(
      seen.map(({ version }) => version),
      ['2.0.0-rc.1', '1.12.0', '1.11.0', '1.10.0', '1.9.0', '1.0.0', '0.9.0'],
    );
    t.is(seen.find(({ version }) => version === '1.0.0')?.deviceCount, 1);
    t.deepEqual(
      (await versions(platform, token, `${query}&state=withdrawn`)).map(({ version }) => version),
      ['2.0.0-rc.1', '1.10.0'],
    );
    const walked: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: { body: { data: VersionSeen[]; pagination: { cursor: string | null } } } = await platform.call(
        'GET',
        `/agent-versions?${query.replace('100', '2')}&cursor=${cursor}`,
        { token },
      );
      walked.push(...page.body.data.map(({ version }) => version));
      cursor = page.body.pagination.cursor;
    }
    t.deepEqual(
      walked,
      seen.map(({ version }) => version),
    );
    t.is((await platform.call('GET', '/agent-versions')).status, 401);
  },
);

test.serial('the database allows one latest version, and only a promoted one', async (t) => {
  await t.throwsAsync(
    platform.sql(
      `update agent_versions set is_latest = true where component = 'agent' and state = 'promoted' and platform = 'linux'`,
    ),
    { message: /agent_versions_latest/ },
  );
  await t.throwsAsync(platform.sql(`update agent_versions set is_latest = true where state = 'withdrawn'`), {
    message: /check/,
  });
});
