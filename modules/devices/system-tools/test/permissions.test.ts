/** Permissions for tools, and secrets in their answers. */
import test from 'ava';
import { apiKey, orgUser, startTestPlatform, tenant } from '#test';
import { answers, bench, forgetCounts } from './arrange.ts';

const platform = await startTestPlatform();
const here = await bench(platform, answers);
test.after.always(async () => {
  await here.live.close();
  await platform.stop();
});
test.beforeEach(() => forgetCounts(platform, here));

test.serial('an organization may disable tools', async (t) => {
  const set = (settings: object) =>
    platform.sql('update organizations set settings = $2 where id = $1', [here.orgId, settings]);
  await set({ 'system-tools': { remoteTools: ['processes'] } });
  t.is((await here.ask('GET', '/processes')).status, 200);
  for (const path of [
    '/services',
    '/registry/keys?hive=HKLM',
    '/eventlogs',
    '/tasks',
    '/files',
    '/files/download?path=C:%5Cx',
  ]) {
    const { status, body } = await here.ask('GET', path);
    t.is(status, 403, path);
    t.is(body.error.code, 'TOOL_NOT_ALLOWED');
  }
  await set({});
});

test.serial('devices:read may read, devices:execute may change, and another tenant gets 404', async (t) => {
  const { viewer, partner } = here;
  const stranger = await tenant(platform);
  const elsewhere = await orgUser(platform, { orgId: here.orgId, siteIds: ['11111111-1111-4111-8111-111111111111'] });
  const call = (method: string, path: string, options: object) => platform.call(method, here.path + path, options);
  t.is((await call('GET', '/processes', viewer)).status, 200);
  t.is((await call('GET', '/processes', partner)).status, 200);
  t.is((await call('POST', '/services/x/stop', viewer)).status, 403);
  t.is((await call('GET', '/files/download?path=C:%5Cx', viewer)).status, 403, 'a download takes data along');
  for (const person of [stranger.orgAdmin, stranger.partner, elsewhere]) {
    for (const [method, path, body] of [
      ['GET', '/processes'],
      ['GET', '/registry/keys?hive=HKLM'],
      ['GET', '/files/download?path=C:%5Cx'],
      ['POST', '/processes/1/kill', {}],
      ['DELETE', '/registry/key?hive=HKLM&path=A'],
      ['POST', '/files/upload', { path: 'C:\\x', content: '', encoding: 'text' }],
    ] as const) {
      t.is(
        (await call(method, path, { token: person.token, ...(body ? { body } : {}) })).status,
        404,
        `${method} ${path}`,
      );
    }
  }
  const keyOf = (...scopes: string[]) => apiKey(platform, { orgId: here.orgId, scopes, createdBy: here.orgAdmin.id });
  const [reader, doer, all] = [await keyOf('devices:read'), await keyOf('devices:execute'), await keyOf('*')];
  t.is((await call('GET', '/processes', { apiKey: doer })).status, 200);
  t.is((await call('POST', '/services/x/stop', { apiKey: doer })).status, 200);
  t.is((await call('GET', '/processes', { apiKey: reader })).status, 403, 'a key shows no second factor');
  t.is((await call('POST', '/services/x/stop', { apiKey: reader })).status, 403);
  t.is(
    (await call('GET', '/processes', { apiKey: all })).status,
    403,
    'where a second factor is asked for, * is not enough',
  );
  const bare = await orgUser(platform, { orgId: here.orgId, mfa: false });
  const refused = await platform.call<{ error: { code: string } }>('GET', `${here.path}/processes`, bare);
  t.true(['MFA_VERIFICATION_REQUIRED', 'MFA_REQUIRED'].includes(refused.body.error.code));
});

test.serial('only callers with devices:execute see secrets in command lines', async (t) => {
  const [mine, theirs] = await Promise.all(
    [here.orgAdmin, here.viewer].map(async ({ token }) => {
      const read = async (path: string) =>
        JSON.stringify((await platform.call('GET', here.path + path, { token })).body);
      return (
        (await read('/processes')) + (await read('/services')) + (await read('/tasks')) + (await read('/processes/42'))
      );
    }),
  );
  for (const secret of ['hunter2', 'alsosecret', 'abc123', 'k3y']) {
    t.true(mine?.includes(secret), secret);
    t.false(theirs?.includes(secret), secret);
  }
  t.true(theirs?.includes('--password=[REDACTED] /p:[REDACTED] --verbose'));
  const list = await platform.call('GET', `/devices/${here.agent.deviceId}/commands`, here.viewer);
  t.false(JSON.stringify(list.body).includes('hunter2'), 'nor do they lie with the command');
});
