/** The catalog from the command line: as a process beside the server, and what each form does. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { runUnitOfWork } from '#core/work';
import { packageHash, signPackage } from '#plugin-sdk/host';
import { EVERYWHERE, NOBODY } from '../../../../../core/context/index.ts';
import { launch } from '../../../../../test/end-to-end/process.ts';
import { catalogCommand } from '../../services/builtin/command.ts';
import { openGround, openTenant } from '../ground.ts';
import { newSlug, pack } from '../packages.ts';

const folder = await mkdtemp(join(tmpdir(), 'plugin-command-'));
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
const keys = { PLUGINS_TRUST_KEYS: `ours:${raw}`, PLUGINS_ALLOW_UNSIGNED: 'false' };
const ground = await openGround(keys, false);
test.after.always(async () => {
  await rm(folder, { recursive: true });
  await ground.stop();
});
const { platform } = ground;
interface Entry {
  isVerified: boolean;
  version: string | null;
  versions: { signedBy: string | null }[];
}

async function packed() {
  const { content, manifest } = await pack({ slug: newSlug() }, 'export default {};');
  const file = join(folder, `${manifest.slug}.tgz`);
  await writeFile(file, content);
  const sign = () => writeFile(`${file}.sig`, signPackage(content, 'ours', privateKey));
  return { content, file, slug: manifest.slug, sign };
}
/** As the command runs it. */
function run(...args: string[]) {
  const { work, log } = platform.platform.tasks;
  const actor = { ...NOBODY, kind: 'system' as const };
  const options = { actor, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' } as const;
  return runUnitOfWork(work, options, (ctx) => catalogCommand.run(ctx, args));
}
async function reader() {
  const at = await openTenant(ground);
  return async (slug: string) => (await at.call<{ data: Entry }>('GET', `/plugins/catalog/${slug}`)).body.data;
}

test.serial('npm run admin -- plugin adds a package beside the running server, or says what it takes', async (t) => {
  t.timeout(300_000);
  const { file, slug, sign } = await packed();
  await sign();
  const env = { NODE_ENV: 'test', DATABASE_URL: platform.databaseUrl, DATA_DIR: platform.dataDir, ...keys };
  const plugin = (...args: string[]) => launch('app/quartermaster.ts', ['admin', 'plugin', ...args], env, null);
  t.is((await plugin('add', file)).output(), `${slug}: 1.0.0\n`);
  t.is((await (await reader())(slug)).versions[0]?.signedBy, 'ours');
  await writeFile(`${file}.sig`, 'ours:bm90aGluZw==');
  t.regex((await t.throwsAsync(plugin('add', file))).message, /SIGNATURE_INVALID: No trusted key/);
  t.regex((await t.throwsAsync(plugin('yank', slug))).message, /quartermaster admin plugin yank SLUG VERSION/);
});

test.serial('packages are added, listed, verified and withdrawn; each step is audited', async (t) => {
  const [one, other] = [await packed(), await packed()];
  await Promise.all([one.sign(), other.sign()]);
  const { slug } = one;
  t.is(await run('add', one.file, other.file), `${slug}: 1.0.0\n${other.slug}: 1.0.0`);
  const read = await reader();
  t.like(await read(slug), { isVerified: false, version: '1.0.0' });
  await run('verify', slug);
  t.true((await read(slug)).isVerified);
  const line = (await run('list'))?.split('\n').find((text) => text.startsWith(`${slug} `));
  t.is(line, `${slug}  1.0.0  local  ${packageHash(one.content).slice(0, 16)}  signed by ours  verified`);
  await run('yank', slug, '1.0.0');
  t.is((await read(slug)).version, null);
  await run('yank', slug, '1.0.0', '--undo');
  t.is((await read(slug)).version, '1.0.0');
  await run('verify', slug, '--undo');
  t.false((await read(slug)).isVerified);
  const [entry] = await platform.sql<{ id: string }>('select id from plugin_catalog where slug = $1', [slug]);
  const audited = (await platform.audits()).filter(({ resource_id: id }) => id === entry?.id);
  t.deepEqual(
    audited.map(({ action, actor_type: by }) => `${action} ${by}`),
    ['register', 'update', 'yank', 'yank', 'update'].map((step) => `plugin.catalog.${step} system`),
  );
});

test.serial(
  'what is not signed or not there is refused, and what is no form of the command is not understood',
  async (t) => {
    const bare = await packed();
    t.like(await t.throwsAsync(run('add', bare.file)), { code: 'SIGNATURE_INVALID' });
    t.like(await t.throwsAsync(run('add', join(folder, 'none.tgz'))), {
      message: `There is no file ${folder}/none.tgz`,
    });
    t.like(await t.throwsAsync(run('yank', 'warranty', '9.9.9')), { code: 'NOT_FOUND' });
    for (const args of [
      [],
      ['add'],
      ['list', 'x'],
      ['yank', 'warranty'],
      ['verify'],
      ['remove', 'x'],
      ['list', '--all'],
    ])
      t.is(await run(...args), null);
  },
);
