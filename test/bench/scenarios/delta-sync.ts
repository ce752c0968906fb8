/** A copy of 10,000 devices with details, made through the API and then kept: against the same rows read by one statement. */
import { Agent, get } from 'node:http';
import { openDatabase } from '../../../core/database/pools.ts';
import { detailed } from '../../../modules/devices/devices/services/device-details.ts';
import { JOINS, LISTED } from '../../../modules/devices/devices/services/statuses.ts';
import { makeDevices } from '../devices.ts';
import type { Ground } from '../ground.ts';
import { inTurns, rounded, type Scenario } from '../scenario.ts';

const DEVICES = 10_000;
const CHANGED = 100;
const GROUPS = 50;

interface Page {
  data: { id: string }[];
  deleted: { id: string }[];
  pagination: { hasMore: boolean; cursor: string };
}

export const scenario: Scenario = {
  title: `Export of ${DEVICES} devices with details in pages of 500, and what ${CHANGED} changes cost; seconds`,
  async run(ground) {
    const base = await ground.api();
    const { partner, orgId, partnerId } = await ground.tenant();
    await makeDevices(ground, DEVICES);
    await addDetails(ground, orgId);
    const agent = new Agent({ keepAlive: true });
    const ask = (query: string) =>
      pageOf(agent, `${base}/api/v1/devices?include=details&limit=500&${query}`, partner.token);
    let cursor = '';
    let bytes = 0;
    const ours = async () => {
      const begin = performance.now();
      const ids = new Set<string>();
      bytes = 0;
      let query = 'updatedSince=beginning';
      for (;;) {
        const { page, size } = await ask(query);
        bytes += size;
        for (const { id } of page.data) ids.add(id);
        cursor = page.pagination.cursor;
        query = `cursor=${cursor}`;
        if (!page.pagination.hasMore) break;
      }
      if (ids.size !== DEVICES) throw new Error(`${ids.size} devices came`);
      return (performance.now() - begin) / 1000;
    };
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 2, onError: () => undefined });
    const bare = async () => {
      const begin = performance.now();
      const client = await database.app.connect();
      await client.query(`begin; select set_config('app.org_ids', '{${orgId}}', true),
        set_config('app.partner_id', '${partnerId}', true)`);
      const { rows } =
        await client.query(`select ${LISTED}, ${detailed('d.custom_fields')}, (select json_agg(json_build_object('id', g.id,
          'name', g.name, 'type', g.type, 'isPinned', m.is_pinned) order by lower(g.name), g.id)
          from device_group_members m join device_groups g on g.id = m.group_id where m.device_id = d.id) as groups
        from devices d ${JOINS} order by d.org_id, d.id`);
      await client.query('commit');
      client.release();
      if (JSON.stringify(rows).length < DEVICES * 1000) throw new Error('too little');
      return (performance.now() - begin) / 1000;
    };
    const figures = await inTurns(3, ours, bare);
    await database.close();
    const delta = await deltaOf(ground, ask, cursor);
    agent.destroy();
    return { ...figures, 'export MB': rounded(bytes / 1e6), ...delta };
  },
};

type Ask = (query: string) => Promise<{ page: Page; size: number }>;

async function deltaOf(ground: Ground, ask: Ask, from: string): Promise<Record<string, number>> {
  const timed = async (cursor: string) => {
    const begin = performance.now();
    const { page } = await ask(`cursor=${cursor}`);
    return { page, ms: performance.now() - begin };
  };
  const nothing = await timed(from);
  await ground.sql(
    `update devices set display_name = md5(random()::text)
     where id in (select id from devices order by md5(id::text) limit ${CHANGED - 10})`,
  );
  await ground.sql(
    `update devices set lifecycle = 'decommissioned', decommissioned_at = now()
     where id in (select id from devices order by md5(id::text) desc limit 10)`,
  );
  const { page, ms } = await timed(nothing.page.pagination.cursor);
  if (page.data.length !== CHANGED - 10 || page.deleted.length !== 10) {
    throw new Error(`${page.data.length} changes and ${page.deleted.length} ends came`);
  }
  return { 'delta of nothing ms': rounded(nothing.ms), [`delta of ${CHANGED} ms`]: rounded(ms) };
}

/** Two interfaces, two disks, tags, custom values and two groups a device. */
async function addDetails(ground: Ground, orgId: string): Promise<void> {
  await ground.sql(
    `insert into device_network_interfaces (device_id, org_id, name, mac_address, ipv4, is_primary)
     select d.id, d.org_id, 'eth' || n, '00:00:5e:00:53:0' || n, array['192.0.2.' || n], n = 1
     from devices d cross join generate_series(1, 2) n`,
  );
  await ground.sql(
    `insert into device_disks (device_id, org_id, mount_point, fs_type, total_gb, used_gb)
     select d.id, d.org_id, '/' || n, 'ext4', 512, 100 from devices d cross join generate_series(1, 2) n`,
  );
  await ground.sql(
    `update devices set tags = '{blue,rack-8}', custom_fields = '{"owner": "Sales", "costCenter": 4711}'`,
  );
  await ground.sql(
    `insert into device_groups (org_id, name, type) select $1, 'Group ' || n, 'static' from generate_series(1, ${GROUPS}) n`,
    [orgId],
  );
  await ground.sql(
    `insert into device_group_members (group_id, device_id, org_id, added_by)
     select g.id, d.id, d.org_id, 'manual'
     from (select id, org_id, row_number() over () as n from devices) d
     join (select id, row_number() over () as n from device_groups) g on g.n in (1 + d.n % ${GROUPS}, 1 + d.n * 7 % ${GROUPS})`,
  );
  await ground.sql('vacuum analyze');
}

function pageOf(agent: Agent, url: string, token: string): Promise<{ page: Page; size: number }> {
  return new Promise((resolve, reject) => {
    get(url, { agent, headers: { authorization: `Bearer ${token}` } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if (answer.statusCode === 200) resolve({ page: JSON.parse(text) as Page, size: text.length });
        else reject(new Error(`answered ${answer.statusCode}: ${text}`));
      });
      answer.on('error', reject);
    }).on('error', reject);
  });
}
