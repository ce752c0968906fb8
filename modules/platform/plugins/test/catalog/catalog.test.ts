/** The catalog: who may register what, which packages are refused, and what people are shown before they agree. */
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { create } from 'tar';
import { packageHash, signPackage } from '#plugin-sdk/host';
import { openGround, openTenant, type Refused } from '../ground.ts';
import { manifest, newSlug, pack, wants } from '../packages.ts';

const keys = generateKeyPairSync('ed25519');
const raw = keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64');
const ground = await openGround({ PLUGINS_ALLOW_UNSIGNED: 'false', PLUGINS_TRUST_KEYS: `ours:${raw}` }, false);
test.after.always(() => ground.stop());

const SOURCE = 'export default {};';
const signed = (content: Buffer) => ({ 'x-plugin-signature': signPackage(content, 'ours', keys.privateKey) });
const codeOf = ({ body }: { body: unknown }) => (body as Partial<Refused>).error?.code;
const register = async (content: Buffer) => ground.upload(content, undefined, signed(content));

test('only packages with a signature of a trusted key are taken', async (t) => {
  const { content, manifest: given } = await pack({}, SOURCE);
  t.is(codeOf(await ground.upload(content)), 'SIGNATURE_INVALID');
  const other = generateKeyPairSync('ed25519').privateKey;
  for (const signature of [
    signPackage(content, 'ours', other),
    signPackage(content, 'theirs', keys.privateKey),
    'nonsense',
    'ours:',
  ]) {
    t.is(codeOf(await ground.upload(content, undefined, { 'x-plugin-signature': signature })), 'SIGNATURE_INVALID');
  }
  const changed = Buffer.concat([content, Buffer.from('x')]);
  t.is(codeOf(await ground.upload(changed, undefined, signed(content))), 'SIGNATURE_INVALID');
  const made = await register(content);
  t.is(made.status, 201, JSON.stringify(made.body));
  t.like((made.body as { data: object }).data, {
    slug: given.slug,
    version: '1.0.0',
    source: 'local',
    isVerified: false,
  });
  t.is((await register(content)).status, 201, 'the same once more');
  const entries = await ground.platform.audits({ action: 'plugin.catalog.register' });
  const entry = entries.find(({ details }) => details.sha256 === packageHash(content));
  t.like(entry?.details, { version: '1.0.0', signedBy: 'ours' });
});

test('another package of the same version is refused: consent is bound to a package', async (t) => {
  const slug = newSlug();
  t.is((await register((await pack({ slug }, SOURCE)).content)).status, 201);
  t.is(codeOf(await register((await pack({ slug }, `${SOURCE} // other`)).content)), 'VERSION_EXISTS');
});

test('packages that are none, or reach out of their folder, are refused', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'plugin-bad-'));
  t.teardown(() => rm(folder, { recursive: true }));
  const packed = async (files: string[], options: object = {}) => {
    const file = join(folder, `${randomUUID()}.tgz`);
    await create({ gzip: true, cwd: folder, file, ...options }, files);
    return readFile(file);
  };
  await writeFile(join(folder, 'plugin.json'), JSON.stringify(manifest({ main: 'index.js' })));
  await writeFile(join(folder, 'index.js'), SOURCE);
  await writeFile(join(folder, 'addon.node'), '');
  await symlink('/etc/passwd', join(folder, 'link.js'));
  await writeFile(join(folder, 'large.txt'), Buffer.alloc(21 * 1_048_576));
  const all = ['plugin.json', 'index.js'];
  t.is((await register(await packed(all))).status, 201, 'the others fail for what they say');
  const cases: [string, Buffer, RegExp][] = [
    ['no archive', Buffer.from('hello'), /tar\.gz/],
    ['no manifest', await packed(['index.js']), /no plugin\.json/],
    ['no main file', await packed(['plugin.json']), /no index\.js/],
    ['a link', await packed([...all, 'link.js']), /SymbolicLink/],
    [
      'a way out',
      await packed([...all, `../${folder.split('/').pop()}/index.js`], { preservePaths: true }),
      /not allowed/,
    ],
    ['an absolute path', await packed([...all, join(folder, 'index.js')], { preservePaths: true }), /not allowed/],
    ['a native addon', await packed([...all, 'addon.node']), /addons/],
    ['too large unpacked', await packed([...all, 'large.txt']), /at most|ratio|tar\.gz/i],
    ['a manifest with a fault', (await pack({ version: 'one' }, SOURCE)).content, /plugin\.json is not valid/],
  ];
  for (const [what, content, message] of cases) {
    const { status, body } = await register(content);
    t.is(status, 400, what);
    t.is(codeOf({ body }), 'PACKAGE_INVALID', what);
    t.regex((body as Refused).error.message, message, what);
  }
});

test('only operators change the catalog; everybody sees what a plugin asks for, and why', async (t) => {
  const at = await openTenant(ground);
  const { content, manifest: given } = await pack(
    { permissions: wants('devices:read', 'devices:tag'), type: 'collector', category: 'assets' },
    SOURCE,
  );
  t.is((await ground.upload(content, at.orgAdmin.token, signed(content))).status, 403);
  t.is((await register(content)).status, 201);
  t.is((await at.call('PATCH', `/plugins/catalog/${given.slug}`, { isVerified: true })).status, 403);
  const marked = await at.call(
    'PATCH',
    `/plugins/catalog/${given.slug}`,
    { isFeatured: true, isVerified: true },
    ground.admin,
  );
  t.is(marked.status, 200);
  const { body } = await at.call<{ data: { permissions: object[]; installed: unknown[] } }>(
    'GET',
    `/plugins/catalog/${given.slug}`,
  );
  t.like(body.data.permissions[1], {
    name: 'devices:tag',
    label: 'Tag devices',
    destructive: true,
    reason: 'To test devices:tag',
  });
  const list = await at.call<{ data: { slug: string; isFeatured: boolean; installed: unknown }[] }>(
    'GET',
    '/plugins/catalog?type=collector&category=assets&limit=100',
  );
  t.true(list.body.data.every(({ installed }) => installed === null));
  t.is(list.body.data[0]?.slug, given.slug, 'featured first');
  t.is((await at.call<{ data: unknown[] }>('GET', `/plugins/catalog?search=${given.slug}`)).body.data.length, 1);
  t.is((await at.call('GET', '/plugins/catalog/no-such-plugin')).status, 404);
});

test('a withdrawn version is not installed any more, and the one before it is the newest again', async (t) => {
  const slug = newSlug();
  for (const version of ['1.0.0', '1.1.0', '2.0.0-beta.1'])
    t.is((await register((await pack({ slug, version }, SOURCE)).content)).status, 201);
  const at = await openTenant(ground);
  const newest = async () =>
    (await at.call<{ data: { version: string } }>('GET', `/plugins/catalog/${slug}`)).body.data.version;
  t.is(await newest(), '1.1.0', 'no prerelease');
  const yank = (yanked: boolean) =>
    at.call('PATCH', `/plugins/catalog/${slug}/versions/1.1.0`, { yanked }, ground.admin);
  t.is((await yank(true)).status, 200);
  t.is(await newest(), '1.0.0');
  t.is((await at.call('POST', '/plugins/installations', { slug, version: '1.1.0', grantPermissions: [] })).status, 404);
  t.is((await yank(false)).status, 200);
  t.is(await newest(), '1.1.0');
});
