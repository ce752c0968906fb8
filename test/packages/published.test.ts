/** What we publish, as a stranger meets it: the kit's tarball, a package built against it, and that package installed here. */
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { startTestPlatform, systemUser } from '#test';
import { ROOT } from '../../core/loader/load.ts';
import { buildKit } from '../../packages/module-kit/build.ts';
import { install, layOutExample, layOutReadme, nodeTest, removeFolder, run, strangerFolder, tsc } from './stranger.ts';

const SLOW = 50 * 60_000;

const out = await mkdtemp(join(tmpdir(), 'quartermaster-kit-'));
let kit = '';
let folder = '';
test.after.always(() => Promise.all([removeFolder(out), removeFolder(folder)]));

test.serial('the kit is built and packed', async (t) => {
  t.timeout(SLOW);
  kit = await buildKit(out);
  folder = await strangerFolder(kit);
  await layOutExample(folder);
  t.regex(kit, /quartermaster-module-kit-\d+\.\d+\.\d+\.tgz$/);
});

test('the tarball is a sound package', async (t) => {
  t.timeout(SLOW);
  const bin = (name: string) => join(ROOT, 'node_modules/.bin', name);
  const { stdout } = await run(bin('publint'), [kit, '--strict']);
  t.regex(stdout, /All good/);
  await t.notThrowsAsync(run(bin('attw'), [kit, '--profile', 'esm-only']));
});

test.serial('the contract has types: a mistake is found where it is made', async (t) => {
  t.timeout(SLOW);
  await writeFile(
    join(folder, 'src/wrong.ts'),
    `import type { Context } from '@quartermaster/module-kit';
export const first = (ctx: Context) => ctx.use('nobody');
export const second = (ctx: Context) => ctx.use('devices').mustExist(5);
export const third = (ctx: Context) => ctx.addJob('acme-asset-labels/label-devices', { more: 1 });
`,
  );
  const { stdout = '' } = await tsc(folder).then(
    () => ({ stdout: '' }),
    (error: { stdout: string }) => error,
  );
  t.deepEqual(
    [...stdout.matchAll(/^(\S+?)\((\d+),/gm)].map(([, file, line]) => `${file} ${line}`),
    ['src/wrong.ts 2', 'src/wrong.ts 3', 'src/wrong.ts 4'],
  );
  await removeFolder(join(folder, 'src/wrong.ts'));
});

test.serial("the package builds, and its own tests pass on the kit's database", async (t) => {
  t.timeout(SLOW);
  await tsc(folder);
  await tsc(folder, '--project', 'tsconfig.build.json');
  const stdout = await nodeTest(folder);
  t.regex(stdout, /^# pass 4$/m);
  t.notRegex(stdout, /"level":50/, 'nothing of the server is missing');
  t.regex(stdout, /^# fail 0$/m);
});

test.serial('what the README has one write builds, and its test passes', async (t) => {
  t.timeout(SLOW);
  const place = await strangerFolder(kit);
  const files = await layOutReadme(place);
  t.is(files.length, 5, files.join(' '));
  await tsc(place);
  const stdout = await nodeTest(place);
  t.regex(stdout, /^# pass 1$/m);
  await removeFolder(place);
});

test.serial('packed and installed, it runs here on this core, whatever lies in its node_modules', async (t) => {
  t.timeout(SLOW);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts'], { cwd: folder });
  const name = '@acme/quartermaster-asset-labels';
  const modules = join(folder, 'installed');
  const place = await install(join(folder, JSON.parse(stdout)[0].filename), name, modules);
  for (const copy of ['joi', '@quartermaster/module-kit']) {
    const decoy = join(place, 'node_modules', copy);
    await mkdir(decoy, { recursive: true });
    await writeFile(join(decoy, 'package.json'), JSON.stringify({ name: copy, version: '0.0.1', main: 'index.js' }));
    await writeFile(join(decoy, 'index.js'), `throw new Error('the copy of ${copy}');`);
  }
  const platform = await startTestPlatform({ MODULE_PACKAGES: name, MODULE_PACKAGES_DIR: modules });
  const { token } = await systemUser(platform);
  t.is((await platform.call('GET', '/acme-asset-labels', { token })).status, 200);
  t.is(platform.platform.tasks.work.services.modules.fault('acme-asset-labels'), null);
  await platform.stop();
});
