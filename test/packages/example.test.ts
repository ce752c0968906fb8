/** The example package on a server of ours: all that a module of the server itself can do, and all that holds it. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import {
  type ErrorBody,
  enrollAgent,
  enrollmentKey,
  orgUser,
  startTestPlatform,
  systemUser,
  type Tenant,
  tenant,
} from '#test';

const EXAMPLE = join(import.meta.dirname, '../../packages/example-module');

/** As TypeScript, in a folder of its own: how a package is worked on. */
const folder = await mkdtemp(join(tmpdir(), 'quartermaster-example-'));
for (const name of ['src', 'migrations']) await cp(join(EXAMPLE, name), join(folder, name), { recursive: true });
const manifest = JSON.parse(await readFile(join(EXAMPLE, 'package.json'), 'utf8'));
manifest.quartermaster.module = './src';
await writeFile(join(folder, 'package.json'), JSON.stringify(manifest));

const platform = await startTestPlatform({ MODULE_PACKAGES: manifest.name, MODULE_PACKAGES_DIR: folder });
test.after.always(async () => {
  await platform.stop();
  await rm(folder, { recursive: true });
});

interface Label {
  id: string;
  deviceId: string;
  label: string;
}
const call = <B = { data: Label } & ErrorBody>(method: string, path: string, token: string, body?: object) =>
  platform.call<B>(method, path, { token, ...(body ? { body } : {}) });
const labels = async (token: string) =>
  (await call<{ data: Label[] }>('GET', '/acme-asset-labels', token)).body.data.map(({ label }) => label);
const enroll = async ({ orgId, siteId }: Tenant) =>
  (await enrollAgent(platform, { key: await enrollmentKey(platform, { orgId, siteId }) })).deviceId;

test('a person limited to a site labels and reads only the devices there, and orders no labels for the others', async (t) => {
  const mine = await tenant(platform);
  const { token } = mine.orgAdmin;
  const { status } = await call('POST', '/acme-asset-labels', token, { deviceId: await enroll(mine), label: 'M-1' });
  t.is(status, 201);
  const body = { orgId: mine.orgId, name: 'Elsewhere' };
  const { id } = (await platform.call<{ id: string }>('POST', '/orgs/sites', { token, body })).body;
  const limited = await orgUser(platform, { orgId: mine.orgId, siteIds: [id] });
  t.deepEqual(await labels(limited.token), []);
  const ordered = await call('POST', '/acme-asset-labels/assign', limited.token, {});
  t.deepEqual([ordered.status, ordered.body.error.code], [403, 'TARGET_OUT_OF_SCOPE']);
});

test('its migrations are applied under its name, and its tables are closed to other tenants', async (t) => {
  const applied = await platform.sql(`select name from migrations where owner = 'acme-asset-labels'`);
  t.deepEqual(applied, [{ name: '001-labels.sql' }]);
  const open = await platform.sql(
    `select relname from pg_class where relname like 'acme\\_%' and relkind = 'r' and not (relrowsecurity and relforcerowsecurity)`,
  );
  t.deepEqual(open, []);
});

test('its routes answer, its writes are audited, and another tenant reaches nothing', async (t) => {
  const [mine, other] = [await tenant(platform), await tenant(platform)];
  const { token } = mine.orgAdmin;
  const made = await call('POST', '/acme-asset-labels', token, { deviceId: await enroll(mine), label: 'Desk 7' });
  t.is(made.status, 201);
  const path = `/acme-asset-labels/${made.body.data.id}`;
  t.is((await call('GET', path, token)).body.data.label, 'Desk 7');
  for (const { token: stranger } of [other.orgAdmin, other.partner]) {
    t.deepEqual(await labels(stranger), []);
    for (const method of ['GET', 'DELETE']) t.is((await call(method, path, stranger)).status, 404);
    t.is((await call('PATCH', path, stranger, { label: 'x' })).status, 404);
  }
  const bad = await call('POST', '/acme-asset-labels', token, { deviceId: 'x' });
  t.is(bad.status, 400);
  t.is(bad.body.error.details[0]?.path, 'deviceId');
  const [audit] = await platform.audits({ orgId: mine.orgId, action: 'acme-asset-labels.label.create' });
  t.is(audit?.resource_id, made.body.data.id);
});

test('its job runs, its subscriber hears, its filling of a slot is asked', async (t) => {
  const mine = await tenant(platform);
  const { token } = mine.orgAdmin;
  await enroll(mine);
  t.is((await call('POST', '/acme-asset-labels/assign', token, {})).status, 202);
  await platform.runJobs();
  t.deepEqual(await labels(token), ['A-00001']);
  const settings = { settings: { 'acme-asset-labels': { automatic: true, prefix: 'B-' } } };
  const set = await call('PATCH', `/orgs/organizations/${mine.orgId}`, mine.partner.token, settings);
  t.is(set.status, 200, JSON.stringify(set.body));
  await enroll(mine);
  await platform.runJobs();
  t.deepEqual(await labels(token), ['A-00001', 'B-00002']);
  const { body } = await call<{ results: { title: string }[] }>('GET', '/search?q=b-0', token);
  t.deepEqual(
    body.results.map(({ title }) => title),
    ['B-00002'],
  );
});

test('it is switched off for one partner, and is on for the other', async (t) => {
  const [mine, other] = [await tenant(platform), await tenant(platform)];
  const off = await call('PATCH', '/modules/partner/acme-asset-labels', mine.partner.token, { enabled: false });
  t.is(off.status, 200);
  t.is((await call('GET', '/acme-asset-labels', mine.orgAdmin.token)).body.error.code, 'MODULE_DISABLED');
  t.deepEqual(await labels(other.orgAdmin.token), []);
});

test('it stands in the list of modules and in the API document like any other', async (t) => {
  const { token } = await systemUser(platform);
  const { body } = await call<{ data: { key: string }[] }>('GET', '/modules', token);
  t.like(
    body.data.find(({ key }) => key === 'acme-asset-labels'),
    { enabled: true, reason: null, dependsOn: ['devices', 'search'] },
  );
  const docs = await platform.call<{ paths: object }>('GET', '/openapi.json', { token });
  t.true(Object.keys(docs.body.paths).some((path) => path.includes('/acme-asset-labels/{id}')));
});
