/** The shipped plugins are in every catalog: once, verified, and as the folders have them. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import type { StartServices } from '#core';
import { runUnitOfWork } from '#core/work';
import { packageHash, readPackage } from '#plugin-sdk/host';
import { joinTestPlatform } from '#test';
import { EVERYWHERE, NOBODY } from '../../../../../core/context/index.ts';
import { packShipped, shippedPlugins } from '../../services/builtin/packages.ts';
import { registerShipped } from '../../services/builtin/registrations.ts';
import { openGround, openTenant } from '../ground.ts';

const ground = await openGround({}, false);
test.after.always(() => ground.stop());
const { platform } = ground;
interface Entry {
  slug: string;
  source: string;
  isVerified: boolean;
  version: string;
  versions: { version: string; packageSha256: string; yanked: boolean }[];
}
interface Listed {
  data: Entry[];
  pagination: { cursor: string | null };
}
const SLUGS = ['chat-channel', 'device-report', 'ntfy-push', 'rest-tickets', 'warranty'];
const EMPTY = `delete from plugin_installations; delete from plugin_versions; delete from plugin_packages; delete from plugin_catalog`;
const registered = async () => {
  const rows = await platform.sql<{ slug: string; version: string }>(
    `select c.slug, v.version from plugin_catalog c join plugin_versions v on v.catalog_id = c.id
     where c.source = 'builtin' order by c.slug, v.version`,
  );
  return rows.map(({ slug, version }) => `${slug} ${version}`);
};
/** As the start of a process has them. */
const services = {
  asPlatform: (run) => {
    const { work, log } = platform.platform.tasks;
    const actor = { ...NOBODY, kind: 'system' as const };
    return runUnitOfWork(work, { actor, scope: EVERYWHERE, requestId: 'test', log, role: 'platform' }, run);
  },
} as StartServices;

test.serial(
  'the shipped plugins are in the catalog from the start: builtin, verified, with the hash of their package',
  async (t) => {
    const at = await openTenant(ground);
    for (const one of await shippedPlugins()) {
      const { slug, version } = one.manifest;
      const { status, body } = await at.call<{ data: Entry }>('GET', `/plugins/catalog/${slug}`);
      t.is(status, 200);
      t.like(body.data, { slug, source: 'builtin', isVerified: true, version });
      t.is(body.data.versions[0]?.packageSha256, packageHash((await packShipped(one)).content));
    }
    t.deepEqual((await shippedPlugins()).map(({ manifest }) => manifest.slug).sort(), SLUGS);
    const entries = await platform.audits({ action: 'plugin.catalog.register' });
    t.is(entries.length, SLUGS.length);
  },
);

test.serial('a walk through the catalog by cursor meets each plugin once', async (t) => {
  const at = await openTenant(ground);
  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const path: string = `/plugins/catalog?limit=2&cursor=${cursor}`;
    const { body } = (await at.call('GET', path)) as unknown as { body: Listed };
    seen.push(...body.data.map(({ slug }) => slug));
    cursor = body.pagination.cursor;
  }
  t.deepEqual(seen, SLUGS);
});

test.serial('a package is valid, the same bytes however often it is made, and has no tests in it', async (t) => {
  for (const one of await shippedPlugins()) {
    const { content, unpackedSize } = await packShipped(one);
    t.true(content.equals((await packShipped(one)).content));
    const { manifest, files, size } = await readPackage(content);
    t.deepEqual([manifest, size], [one.manifest, unpackedSize]);
    t.true(files.has('README.md'));
    t.deepEqual(
      [...files.keys()].filter((path) => path.includes('test')),
      [],
    );
  }
});

test.serial(
  'what is shipped under a version stays the same: whoever changes a plugin gives it another version',
  async (t) => {
    const file = new URL('../../../../../plugins/versions.json', import.meta.url);
    const known = JSON.parse(await readFile(file, 'utf8')) as Record<string, string>;
    for (const one of await shippedPlugins()) {
      const { slug, version } = one.manifest;
      const sha256 = packageHash((await packShipped(one)).content);
      t.is(known[`${slug} ${version}`], sha256, `raise the version of ${slug}, and add it to plugins/versions.json`);
    }
  },
);

test.serial('processes that start at the same moment register each version once', async (t) => {
  await platform.sql(EMPTY);
  const others = await Promise.all([
    joinTestPlatform(platform),
    joinTestPlatform(platform),
    joinTestPlatform(platform),
  ]);
  await Promise.all(others.map((one) => one.stop()));
  t.deepEqual(
    await registered(),
    (await shippedPlugins()).map(({ manifest }) => `${manifest.slug} ${manifest.version}`).sort(),
  );
});

test.serial(
  'a new version is added once; what the operator said of the plugin and of old versions stays',
  async (t) => {
    const root = await mkdtemp(join(tmpdir(), 'shipped-'));
    t.teardown(() => rm(root, { recursive: true }));
    const [first] = await shippedPlugins();
    await cp(first?.folder ?? '', join(root, 'chat-channel'), { recursive: true });
    const at = await openTenant(ground);
    const mark = (path: string, body: object) => at.call('PATCH', `/plugins/catalog/${path}`, body, ground.admin);
    await mark('chat-channel', { isVerified: false });
    await mark('chat-channel/versions/1.0.0', { yanked: true });
    const file = join(root, 'chat-channel/plugin.json');
    const manifest = JSON.parse(await readFile(file, 'utf8')) as object;
    await writeFile(file, JSON.stringify({ ...manifest, version: '1.1.0', name: 'Chats' }));
    await registerShipped(services, root);
    await registerShipped(services, root);
    const { body } = await at.call<{ data: Entry & { name: string } }>('GET', '/plugins/catalog/chat-channel');
    t.like(body.data, { version: '1.1.0', name: 'Chats', isVerified: false });
    t.deepEqual(
      body.data.versions.map(({ version, yanked }) => [version, yanked]),
      [
        ['1.1.0', false],
        ['1.0.0', true],
      ],
    );
  },
);

test.serial("a plugin of the operator's own with a shipped name is left alone", async (t) => {
  await platform.sql(EMPTY);
  // From a time when their names were not kept.
  const [entry] = await platform.sql<{ id: string }>(
    `insert into plugin_catalog (slug, name, description, author, type, version)
     values ('warranty', 'Our own', 'x', 'x', 'automation', '1.0.0') returning id`,
  );
  await platform.sql(
    `with package as (insert into plugin_packages (sha256, content) values (repeat('a', 64), 'x'))
     insert into plugin_versions (catalog_id, version, manifest, package_sha256, size, unpacked_size)
     values ($1, '1.0.0', '{}', repeat('a', 64), 1, 1)`,
    [entry?.id],
  );
  await registerShipped(services);
  const [row] = await platform.sql<{ name: string; source: string; versions: number }>(
    `select c.name, c.source, count(*)::int as versions from plugin_catalog c join plugin_versions v on v.catalog_id = c.id
     where c.slug = 'warranty' group by c.id`,
  );
  t.deepEqual(row, { name: 'Our own', source: 'local', versions: 1 });
  t.is((await registered()).length, SLUGS.length - 1);
});
