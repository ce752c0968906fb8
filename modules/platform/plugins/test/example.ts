/** A plugin in the catalog, installed at a tenant, with what it keeps and what it said; for the tests that hold for every module. */
import { randomUUID } from 'node:crypto';
import { packageHash } from '#plugin-sdk/host';
import type { Tenant, TestPlatform } from '#test';
import { pack } from './packages.ts';

export default async (platform: TestPlatform, { orgAdmin, orgId }: Tenant): Promise<void> => {
  const slug = `example-${randomUUID().slice(0, 8)}`;
  const action = { name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' };
  const { content, manifest } = await pack(
    { slug, actions: [action] },
    'export default { handlers: { go: () => 1 } };',
  );
  const sha256 = packageHash(content);
  await platform.sql(
    `with entry as (
       insert into plugin_catalog (slug, name, description, author, type, version)
       values ($1::text, $1::text, 'An example', 'Tests', 'automation', '1.0.0') returning id),
     package as (insert into plugin_packages (sha256, content) values ($3::text, $4))
     insert into plugin_versions (catalog_id, version, manifest, package_sha256, size, unpacked_size)
     select id, '1.0.0', $2::jsonb, $3::text, 1000, 1000 from entry`,
    [slug, JSON.stringify(manifest), sha256, content],
  );
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
     due as (insert into plugin_schedules (installation_id, org_id, kind, name, cron, next_run_at)
       values ($1::uuid, $2::uuid, 'schedule', 's', '0 * * * *', now() + interval '1 day')),
     waiting as (insert into plugin_queue (installation_id, org_id, key, kind, body, due_at)
       values ($1::uuid, $2::uuid, 'event:x', 'event', '{}', now() + interval '1 day'))
     insert into plugin_logs (installation_id, org_id, level, message) values ($1::uuid, $2::uuid, 'info', 'Hello')`,
    [body.data.id, orgId, slug],
  );
};
