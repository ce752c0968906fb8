/** Lists of plugins: their order, their pages, and what narrows them. */
import test from 'ava';
import { openGround, openTenant, type Shown } from '../ground.ts';
import { newSlug } from '../packages.ts';

const ground = await openGround({}, false);
test.after.always(() => ground.stop());
const PLAIN = 'export default {};';
interface Page<T> {
  data: T[];
  pagination: { total?: number; cursor?: string | null };
}

test('the catalog shows what is featured first, then what is installed most, in pages and by cursor', async (t) => {
  const category = newSlug();
  const slugs: string[] = [];
  for (let n = 0; n < 5; n++) {
    slugs.push((await ground.register({ category, type: n === 4 ? 'collector' : 'automation' }, PLAIN)).slug);
    await ground.platform.sql('update plugin_catalog set install_count = $2 where slug = $1', [slugs[n], n % 3]);
  }
  const at = await openTenant(ground);
  await at.call('PATCH', `/plugins/catalog/${slugs[0]}`, { isFeatured: true }, ground.admin);
  const list = (query: string) =>
    at.call<Page<{ slug: string }>>('GET', `/plugins/catalog?category=${category}${query}`);
  const order = [slugs[0], slugs[2], ...[slugs[1], slugs[4]].sort(), slugs[3]];
  const found = async (query: string) => (await list(query)).body.data.map(({ slug }) => slug);
  t.deepEqual(await found(''), order);
  t.deepEqual(await found('&limit=2&page=2'), order.slice(2, 4));
  t.is((await list('&limit=2')).body.pagination.total, 5);
  const walked: string[] = [];
  let cursor: string | null | undefined = '';
  do {
    const page: Page<{ slug: string }> = (await list(`&limit=2&cursor=${cursor}`)).body;
    walked.push(...page.data.map(({ slug }) => slug));
    cursor = page.pagination.cursor;
  } while (cursor);
  t.deepEqual(walked, order);
  t.deepEqual(await found('&featured=true'), [slugs[0]]);
  t.deepEqual(await found('&type=collector'), [slugs[4]]);
  const { data } = (await at.call('POST', '/plugins/installations', { slug: slugs[3], grantPermissions: [] })).body;
  t.deepEqual(await found('&installed=true'), [slugs[3]]);
  t.deepEqual(await found('&installed=false'), order.slice(0, 4));
  const [own] = (await list('&installed=true')).body.data;
  t.like(own, { installed: { id: data.id, orgId: at.orgId, enabled: false, version: '1.0.0', status: 'installing' } });
  await ground.platform.runJobs();
  const counted = await ground.platform.sql('select install_count as n from plugin_catalog where slug = $1', [
    slugs[3],
  ]);
  t.deepEqual(counted, [{ n: 1 }], 'one more');
});

test('installations are listed by name, narrowed by state, in pages and by cursor', async (t) => {
  const at = await openTenant(ground);
  const made: Shown[] = [];
  for (let n = 0; n < 3; n++) made.push((await at.install(await ground.register({}, PLAIN))).body.data);
  await ground.platform.sql(`update plugin_installations set status = 'installed' where id = $1`, [made[0]?.id]);
  await ground.platform.sql(`update plugin_installations set status = 'installed', enabled = true where id = $1`, [
    made[1]?.id,
  ]);
  const enabledId = made[1]?.id;
  const ids = made.sort((a, b) => (String(a.slug) < String(b.slug) ? -1 : 1)).map(({ id }) => id);
  const list = async (query: string) =>
    (await at.call<Page<Shown>>('GET', `/plugins/installations?${query}`)).body.data.map(({ id }) => id);
  t.deepEqual(await list(''), ids);
  t.deepEqual(await list('limit=1&page=2'), ids.slice(1, 2));
  const first = (await at.call<Page<Shown>>('GET', '/plugins/installations?limit=2&cursor=')).body;
  t.deepEqual(await list(`limit=2&cursor=${first.pagination.cursor}`), ids.slice(2));
  t.is((await list('status=installing')).length, 1);
  t.deepEqual(await list('enabled=true'), [enabledId]);
  t.is((await at.call('GET', `/plugins/installations?orgId=${(await openTenant(ground)).orgId}`)).status, 403);
});

test('lines are found by level, hook, time and text, the newest first', async (t) => {
  const at = await openTenant(ground);
  const { id } = (await at.install(await ground.register({}, PLAIN))).body.data;
  await ground.platform.sql(
    `insert into plugin_logs (installation_id, org_id, level, message, hook, timestamp) values
       ($1, $2, 'info', 'First light', 'device.online', '2026-01-01T10:00:00Z'),
       ($1, $2, 'error', 'Second 100%', 'device.online', '2026-01-01T11:00:00Z'),
       ($1, $2, 'info', 'Third', 'onEnable', '2026-01-01T12:00:00Z')`,
    [id, at.orgId],
  );
  const found = async (query: string) => (await at.logs(id, query)).map(({ message }) => message);
  t.deepEqual(await found(''), ['Third', 'Second 100%', 'First light']);
  t.deepEqual(await found('&level=error'), ['Second 100%']);
  t.deepEqual(await found('&hook=device.online'), ['Second 100%', 'First light']);
  t.deepEqual(await found('&since=2026-01-01T11:00:00Z'), ['Third', 'Second 100%']);
  t.deepEqual(await found('&until=2026-01-01T11:00:00Z'), ['First light']);
  t.deepEqual(await found('&search=100%25'), ['Second 100%']);
  t.deepEqual(await found('&page=2'), []);
  const stranger = await openTenant(ground);
  t.is((await stranger.call('GET', `/plugins/installations/${id}/logs`)).status, 404);
});
