/** A plugin in the catalog, installed at a tenant, with its data and logs; and what the contract tests need to know of this module. */
import { randomUUID } from 'node:crypto';
import { packageHash } from '#plugin-sdk/host';
import type { Example, ExampleContext, PlatformClient, Tenant } from '#test';
import { openGround, openTenant } from './ground.ts';
import { pack } from './packages.ts';

const go = { name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' };
const greet = { name: 'greet', label: 'Greet', target: 'org' as const, permission: 'devices:read' };
const GREETER = 'export default { handlers: { greet: () => ({ text: "Hello" }) } };';

/** A platform that runs plugins, and a tenant there. */
const running = ({ once, onEnd }: ExampleContext) =>
  once('platform with plugins', async () => {
    const ground = await openGround({ LOG_LEVEL: 'silent' });
    onEnd(() => ground.stop());
    const at = await openTenant(ground);
    const greeter = (slug: string) => ground.register({ slug, name: 'Greeter', actions: [greet] }, GREETER);
    return { platform: ground.platform, token: at.orgAdmin.token, at, greeter };
  });

/** Puts a plugin of one version into the catalog. */
async function register(platform: PlatformClient, slug: string): Promise<void> {
  const { content, manifest } = await pack({ slug, actions: [go] }, 'export default { handlers: { go: () => 1 } };');
  await platform.sql(
    `with entry as (
       insert into plugin_catalog (slug, name, description, author, type, version)
       values ($1::text, $1::text, 'An example', 'Tests', 'automation', '1.0.0') returning id),
     package as (insert into plugin_packages (sha256, content) values ($3::text, $4))
     insert into plugin_versions (catalog_id, version, manifest, package_sha256, size, unpacked_size)
     select id, '1.0.0', $2::jsonb, $3::text, 1000, 1000 from entry`,
    [slug, JSON.stringify(manifest), packageHash(content), content],
  );
}

async function make(platform: PlatformClient, { orgAdmin, orgId }: Tenant): Promise<void> {
  const slug = `example-${randomUUID().slice(0, 8)}`;
  await register(platform, slug);
  const { body } = await platform.call<{ data: { id: string } }>('POST', '/plugins/installations', {
    token: orgAdmin.token,
    body: { slug, grantPermissions: [] },
  });
  // As its job would leave it, without a process; enabled, so that it can be disabled and called.
  await platform.sql(`update plugin_installations set status = 'installed', enabled = true where id = $1`, [
    body.data.id,
  ]);
  await platform.sql(
    `with kept as (insert into plugin_kv (org_id, slug, key, value, bytes) values ($2::uuid, $3::text, 'k', '1', 2)),
     due as (insert into schedules (kind, owner_id, org_id, name, zone, recurrence, catch_up, slot, run_at)
       values ('plugins.schedule', $1::uuid, $2::uuid, 's', 'UTC', '{"cron":"0 * * * *"}', 'once', now() + interval '1 day',
         now() + interval '1 day')),
     waiting as (insert into plugin_queue (installation_id, org_id, key, kind, body, due_at)
       values ($1::uuid, $2::uuid, 'event:x', 'event', '{}', now() + interval '1 day'))
     insert into plugin_logs (installation_id, org_id, level, message) values ($1::uuid, $2::uuid, 'info', 'Hello')`,
    [body.data.id, orgId, slug],
  );
}

/** The catalog's page of a plugin that `make` has registered. */
async function inCatalog({ platform }: { platform: PlatformClient }): Promise<string> {
  const [row] = await platform.sql<{ slug: string }>(
    "select slug from plugin_catalog where slug like 'example-%' limit 1",
  );
  return `/plugins/catalog/${row?.slug}`;
}

const starts = { test: 'installations/life.test.ts', why: 'starts the plugin' };

const example: Example = {
  make,
  bodies: {
    'PATCH /plugins/installations/{id}': () => ({ grantPermissions: [] }),
    'POST /plugins/installations': () => ({ slug: 'none', grantPermissions: [] }),
  },
  before: {
    'PATCH /plugins/catalog/{slug}': async (context) => [await inCatalog(context)],
    'PATCH /plugins/catalog/{slug}/versions/{version}': async (context) => [
      `${await inCatalog(context)}/versions/1.0.0`,
    ],
  },
  callsElsewhere: {
    async 'POST /plugins/installations'(context) {
      const { platform, token, greeter } = await running(context);
      const { slug } = await greeter('greeter');
      return { platform, token, path: '/plugins/installations', body: { slug, grantPermissions: [] } };
    },
    async 'POST /plugins/installations/{id}/enable'(context) {
      const { platform, token, at, greeter } = await running(context);
      const { body } = await at.install(await greeter('second-greeter'));
      await platform.runJobs();
      return { platform, token, path: `/plugins/installations/${body.data.id}/enable` };
    },
    async 'POST /plugins/installations/{id}/invoke/{action}'(context) {
      const { platform, token, at, greeter } = await running(context);
      const { id } = await at.run(await greeter('third-greeter'));
      return { platform, token, path: `/plugins/installations/${id}/invoke/greet`, body: {} };
    },
  },
  testedIn: {
    'POST /plugins/catalog': { test: 'catalog/catalog.test.ts', why: 'requires a package' },
    'POST /plugins/installations': {
      test: 'installations/life.test.ts',
      why: 'requires a plugin that is not installed yet',
    },
    'POST /plugins/installations/{id}/enable': starts,
    'POST /plugins/installations/{id}/disable': starts,
    'POST /plugins/installations/{id}/invoke/{action}': starts,
  },
  unrecorded: { 'POST /plugins/catalog': { test: 'catalog/catalog.test.ts', why: 'takes a package, not JSON' } },
  paths: { '/plugins/catalog/{slug}': () => '/plugins/catalog/chat-channel' },
  withoutObject: { '/plugins/catalog/{slug}': 'the catalog belongs to no tenant' },
};
export default example;
