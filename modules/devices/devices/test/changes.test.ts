/** Changes that a device has reported. */
import test from 'ava';
import { startTestPlatform, tenant } from '#test';
import { enroll, heartbeat, runJob } from './arrange.ts';

interface Changes {
  data: { field: string; before: string | null; after: string | null }[];
  pagination: { cursor?: string | null; hasMore?: boolean; total?: number };
}
const platform = await startTestPlatform();
test.after.always(() => platform.stop());

test('retention goes on until all old changes and addresses are deleted', async (t) => {
  const place = await tenant(platform);
  const { deviceId, orgId } = await enroll(platform, place);
  const old = `now() - interval '91 days'`;
  await platform.sql(
    `insert into device_changes (device_id, org_id, field, after, at)
     select $1, $2, 'hostname', n, ${old} from generate_series(1, 20500) n`,
    [deviceId, orgId],
  );
  await platform.sql(
    `insert into device_ip_history (device_id, org_id, ip, kind, first_seen_at, last_seen_at)
     select $1, $2, n::text, 'source', ${old}, ${old} from generate_series(1, 500) n`,
    [deviceId, orgId],
  );
  await runJob(platform, 'devices/prune-history');
  await platform.runJobs();
  for (const [table, age] of [
    ['device_changes', 'at'],
    ['device_ip_history', 'last_seen_at'],
  ]) {
    const left = await platform.sql(
      `select 1 from ${table} where device_id = $1 and ${age} < now() - interval '90 days'`,
      [deviceId],
    );
    t.is(left.length, 0, table);
  }
});

test('changes are listed newest first, page by page and by field', async (t) => {
  const { partner, viewer, ...place } = await tenant(platform);
  const device = await enroll(platform, place);
  const { deviceId: id } = device;
  const { token } = partner;
  for (const n of [1, 2, 3]) await heartbeat(platform, device, { hostname: `name-${n}`, osVersion: `24.${n}` });
  const list = (query = '', as = token) =>
    platform.call<Changes>('GET', `/devices/${id}/changes${query}`, { token: as });
  const { body } = await list('?field=hostname');
  t.deepEqual(
    body.data.map(({ before, after }) => [before, after]),
    [
      ['name-2', 'name-3'],
      ['name-1', 'name-2'],
      [body.data[2]?.before, 'name-1'],
    ],
  );
  const first = await list('?cursor=&limit=4', viewer.token);
  const second = await list(`?cursor=${first.body.pagination.cursor}&limit=4`);
  t.deepEqual([first.body.data.length, second.body.data.length, second.body.pagination.hasMore], [4, 2, false]);
  t.is((await list(`?from=${new Date(Date.now() + 60_000).toISOString()}`)).body.data.length, 0);
  t.is((await list(`?to=${new Date(Date.now() + 60_000).toISOString()}`)).body.pagination.total, 6);
  const other = await tenant(platform);
  t.is((await list('', other.partner.token)).status, 404);
});
