/** A module package with a fault is off, alone with what requires it, and everything else runs. */
import test from 'ava';
import { type ErrorBody, startTestPlatform, systemUser, tenant } from '#test';
import { KIT, type PackageSketch, packageFolder, route } from '../../core/loader/test/package-folder.ts';

interface Row {
  key: string;
  enabled: boolean;
  reason: string | null;
  fault?: string;
}

const files = (path: string, text: string) => ({ files: { [path]: text } });
const migration = (sql: string) => files('migrations/001-first.sql', sql);

/** What is wrong, and what the sentence must say. SELF stands for the module's name. */
const FAULTS: Record<string, [Omit<PackageSketch, 'name'>, RegExp]> = {
  contract: [{ contract: '^9.0.0', ...files('index.js', 'process.exit(3);') }, /contract \^9\.0\.0.*has 1\./],
  'package-json': [{ quartermaster: {} }, /not that of a module package: .*contract.* is required/],
  'foreign-name': [
    { quartermaster: { contract: '*', name: 'devices', module: './dist' } },
    /named devices, which does not begin with acme-/,
  ],
  outside: [{ quartermaster: { contract: '*', name: 'SELF', module: '../good' } }, /lies outside/],
  throwing: [files('index.js', `throw new Error('out of order');`), /index\.js cannot be loaded: out of/],
  untitled: [{ manifest: 'title: undefined,' }, /title is required/],
  core: [{ manifest: 'core: true,' }, /core is for modules of the server itself/],
  'throwing-file': [files('jobs/x.js', 'nonsense('), /jobs\/x\.js cannot be loaded/],
  path: [files('routes/x.js', route('/devices/mine')), /\/devices\/mine does not lie below \/acme-path/],
  'near-path': [files('routes/x.js', route('/SELFly')), /does not lie below/],
  access: [files('routes/x.js', route('/SELF', 'access: undefined')), /access is required/],
  permission: [
    files('routes/own.js', route('/SELF/own', `access: { permission: 'moon:walk' }`)),
    /moon:walk does not exist/,
  ],
  audit: [{ manifest: `auditOnly: ['device.delete'],` }, /device\.delete, one of its audits/],
  event: [{ manifest: `events: ['devices.enrolled'],` }, /leave out events, which follow/],
  job: [
    files(
      'jobs/x.js',
      `${KIT}export default defineJob({ name: 'devices/x', summary: 'S', scope: 'tenant', payload: Joi.object({}), maxAttempts: 1, run: async () => {} });`,
    ),
    /the job is named devices\/x/,
  ],
  requirement: [{ manifest: `requires: ['nobody'],` }, /requires nobody, which does not exist/],
  'circle-one': [{ manifest: `requires: ['acme-circle-two'],` }, /circle/],
  'circle-two': [{ manifest: `requires: ['acme-circle-one'],` }, /circle/],
  table: [migration('create table bad_things (id int)'), /makes the table bad_things/],
  'open-table': [
    migration('create table acme_things (org_id uuid); grant select on acme_things to quartermaster_app'),
    /acme_things has no forced row-level security/,
  ],
  'changed-table': [migration('alter table devices add column acme_note text'), /changes the table devices/],
  migration: [migration('create table acme_half (id int); select no_such_function()'), /001-first\.sql failed/],
  objects: [{ manifest: `objects: { things: 'acme_nothing' },` }, /acme_nothing, one of its objects, is no table/],
  start: [
    {
      manifest: `start() { throw new Error('no licence for /srv/secret'); },`,
      ...files('fills/tags.references.js', `export default { slot: 'tags.references', value: { from: 'SELF' } };`),
    },
    /no licence/,
  ],
};
/** By the package that they require. */
const ABOVE = ['throwing', 'migration', 'start'];

const folder = await packageFolder();
await folder.add({ name: 'good', files: { 'routes/a.js': route('/acme-good') } });
await folder.add({
  name: 'standing',
  manifest: `async work() { throw new Error('no feed'); },`,
  files: { 'routes/a.js': route('/acme-standing') },
});
// Named before what they require: the order is not the operator's business.
for (const below of ABOVE) {
  const manifest = `requires: ['acme-${below}'], start() { throw new Error('never asked'); },`;
  await folder.add({ name: `above-${below}`, manifest, files: { 'routes/a.js': route(`/acme-above-${below}`) } });
}
for (const [name, [sketch]] of Object.entries(FAULTS)) {
  const whole = { name, ...sketch, files: { 'routes/own.js': route('/SELF/own'), ...sketch.files } };
  await folder.add(JSON.parse(JSON.stringify(whole).replaceAll('SELF', `acme-${name}`)) as PackageSketch);
}
const platform = await startTestPlatform({
  LOG_LEVEL: 'silent',
  MODULES_DISABLED: 'acme-nowhere',
  ...folder.env(...ABOVE.map((below) => `above-${below}`), ...Object.keys(FAULTS), 'nowhere', 'standing', 'good'),
});
const operator = await systemUser(platform);
test.after.always(async () => {
  await platform.stop();
  await folder.remove();
});

const rowOf = async (name: string, { token } = operator) => {
  const { body } = await platform.call<{ data: Row[] }>('GET', '/modules', { token });
  return body.data.find(({ key }) => key === `acme-${name}`);
};
const status = async (path: string) => (await platform.call('GET', path, { token: operator.token })).status;

for (const [name, [, sentence]] of Object.entries(FAULTS)) {
  test(`${name}: the package is off, says why, and left nothing behind`, async (t) => {
    // A foreign name is not believed: then it is listed by that of the package.
    const row = await rowOf(name);
    t.like(row, { enabled: false, reason: 'faulty_package' });
    t.true(row?.fault?.startsWith(`@acme/${name}: `), row?.fault);
    t.regex(row?.fault ?? '', sentence);
    t.is(await status(`/acme-${name}/own`), 404);
    const metric = `module_package_faults{package="@acme/${name}",module="acme-${name}"} 1`;
    t.true((await platform.platform.metrics.text()).includes(metric));
    t.deepEqual(await platform.sql('select name from migrations where owner = $1', [`acme-${name}`]), []);
  });
}

test('everything else runs: the server is ready, and the package with no fault answers', async (t) => {
  t.is(await status('//health/ready'), 200);
  t.is(await status('/acme-good'), 200);
  t.is(await status('/devices'), 200);
  t.deepEqual(await platform.sql(`select relname from pg_class where relname ~ '^(acme|bad)_'`), []);
});

test('a package that is not installed is listed too, and may be named in the configuration', async (t) => {
  const row = await rowOf('nowhere');
  t.like(row, { enabled: false, reason: 'faulty_package' });
  t.regex(row?.fault ?? '', /not installed in .*: npm install --prefix .* @acme\/nowhere/);
});

for (const below of ABOVE) {
  test(`what requires a package that fails (${below}) is off with it, and has no fault of its own`, async (t) => {
    const row = await rowOf(`above-${below}`);
    t.like(row, { enabled: false, reason: `dependency:acme-${below}` });
    t.is(row?.fault, undefined);
    t.is(await status(`/acme-above-${below}`), 404);
  });
}

test('tenants read that it is off, and only the operator why', async (t) => {
  const { orgAdmin } = await tenant(platform);
  const row = await rowOf('start', orgAdmin);
  t.like(row, { enabled: false, reason: 'faulty_package' });
  t.is(row?.fault, undefined);
  const why = async (token: string) =>
    (
      await platform.call<{ data: { reason: string; chain: { check: string }[] } }>('GET', '/modules/acme-start/why', {
        token,
      })
    ).body.data;
  const told = await why(orgAdmin.token);
  t.deepEqual([told.reason, told.chain[0]?.check], ['faulty_package', 'package']);
  t.notRegex(JSON.stringify(told), /secret/);
  t.regex(JSON.stringify(await why(operator.token)), /secret/);
});

test('what it had put into slots before it failed is not asked, not even where that is asked of modules that are off', (t) => {
  const { contributions } = platform.platform.tasks.work;
  t.true(contributions('tags.references').length > 0);
  t.false(JSON.stringify(contributions('tags.references')).includes('acme-start'));
});

test('one whose work beside the jobs does not start is out from then on, and the others start', async (t) => {
  t.is((await rowOf('standing'))?.enabled, true);
  const stop = await platform.platform.tasks.startBackground();
  t.like(await rowOf('standing'), { enabled: false, reason: 'faulty_package', fault: '@acme/standing: no feed' });
  t.is(await status('/acme-standing'), 404);
  await stop();
});

test('nobody can switch it on', async (t) => {
  const { body } = await platform.call<ErrorBody>('PATCH', '/modules/instance/acme-start', {
    token: operator.token,
    body: { enabled: true },
  });
  t.is(body.error.code, 'DISABLED_ABOVE');
});
