/** What plugins may store in all: in an organization, and in all organizations of a partner, however many it makes. */
import test from 'ava';
import { organization } from '#test';
import { openGround, openTenant } from '../ground.ts';
import { wants } from '../packages.ts';

const ground = await openGround({ PLUGINS_KV_MB_PER_ORGANIZATION: '1', PLUGINS_KV_MB_PER_PARTNER: '2' });
test.after.always(() => ground.stop());

const go = { name: 'go', label: 'Go', target: 'org' as const, permission: 'devices:read' };
/** Writes as many values of 60 KB as it may, ten at once; says how many there are and what stopped it. */
const FILLS = `export default { handlers: { async go(_call, ctx) {
  let [kept, stopped] = [0, null];
  for (let n = 0; n < 4 && !stopped; n++)
    for (const { status, reason } of await Promise.allSettled(Array.from({ length: 10 }, (_, k) => ctx.kv.set('k' + n + '-' + k, 'x'.repeat(60_000)))))
      if (status === 'fulfilled') kept += 1; else stopped = reason.code + ': ' + reason.message;
  return { kept, stopped };
}, } };`;
const usage = (orgId: string) =>
  ground.platform.sql<{ bytes: number; counted: number }>(
    `select (select sum(bytes)::int from plugin_kv where org_id = $1) as bytes,
       (select bytes::int from plugin_kv_usage where org_id = $1) as counted`,
    [orgId],
  );
interface Filled {
  kept: number;
  stopped: string;
}

test('plugins of an organization, and of a partner with many, store so much and no more, though they write at once', async (t) => {
  const at = await openTenant(ground);
  const manifests = await Promise.all(
    [1, 2].map(() => ground.register({ permissions: wants('kv'), actions: [go] }, FILLS)),
  );
  const [one, other] = await Promise.all(manifests.map((manifest) => at.run(manifest)));
  const both = await Promise.all([one, other].map((it) => at.invoke(it?.id ?? '', 'go')));
  const [first, second] = both.map(({ body }) => body.result as Filled);
  t.is((first?.kept ?? 0) + (second?.kept ?? 0), 17, '1 MB');
  t.is(first?.stopped, 'QUOTA_EXCEEDED: The values of all plugins of the organization have at most 1048576 bytes');
  const [row] = await usage(at.orgId);
  t.is(row?.bytes, row?.counted, 'what is counted is what there is');
  let kept = 17;
  for (let n = 0; n < 2; n++) {
    const { orgId } = await organization(ground.platform, at.partnerId);
    await ground.platform.sql(
      `insert into plugin_kv (org_id, slug, key, value, bytes) select $1, 'x', k::text, '1', 60000 from generate_series(1, 9) k`,
      [orgId],
    );
    kept += 9;
  }
  // 35 of them are 2 MB, so in a new organization of the partner nothing fits but a little.
  t.is(kept, 35);
  await ground.platform.sql(`delete from plugin_kv where org_id = $1`, [at.orgId]);
  await ground.platform.sql(
    `insert into plugin_kv (org_id, slug, key, value, bytes) select $1, 'y', k::text, '1', 60000 from generate_series(1, 15) k`,
    [at.orgId],
  );
  const full = (await at.invoke(one?.id ?? '', 'go')).body.result as Filled;
  t.deepEqual(full, {
    kept: 1,
    stopped: 'QUOTA_EXCEEDED: The values of all plugins of the partner have at most 2097152 bytes',
  });
});
