/** Ten thousand devices with hardware, state and agent tokens, made straight in the database. */
import { createHash } from 'node:crypto';
import type { Ground } from './ground.ts';

export interface BenchDevice {
  id: string;
  agentId: string;
  token: string;
}

const tokenOf = (agentId: string) => `svc_${createHash('sha256').update(`bench ${agentId}`).digest('hex')}`;

/**
 * Makes devices; their tokens follow from their agent ids.
 * @param organizations over how many they are spread, the ground's own tenant the first: the agents of one may call no more
 *   than 20,000 times a minute
 */
export async function makeDevices(ground: Ground, count: number, organizations = 1): Promise<BenchDevice[]> {
  const { orgId, siteId, partnerId } = await ground.tenant();
  const others = await ground.sql<{ orgId: string; siteId: string }>(
    `with org as (
       insert into organizations (partner_id, name, slug)
       select $1, 'Organization ' || n, 'bench-' || n from generate_series(2, $2) n returning id)
     insert into sites (org_id, name) select id, 'Site' from org returning org_id as "orgId", id as "siteId"`,
    [partnerId, organizations],
  );
  const places = [{ orgId, siteId }, ...others];
  const orgIds = places.map((place) => place.orgId);
  await ground.sql(
    `insert into devices (org_id, site_id, agent_id, hostname, os_type, os_version, architecture, lifecycle, agent_version, enrolled_at)
     select ($1::uuid[])[1 + n % $4], ($2::uuid[])[1 + n % $4], encode(sha256(('agent ' || n)::bytea), 'hex'),
       'host-' || lpad((n * 7919 % 100000)::text, 5, '0'), 'linux', 'Debian 12', 'x64', 'active', '1.0.0', now()
     from generate_series(1, $3) n where not exists (select from devices where org_id = any($1) offset $3 - 1)`,
    [orgIds, places.map((place) => place.siteId), count, organizations],
  );
  await ground.sql(
    `insert into device_state (device_id, org_id, connectivity, last_seen_at, last_seen_ip, latest_metrics, metrics_at)
     select id, org_id, 'online', now(), '127.0.0.1', '{"cpuPercent": 12.5, "ramPercent": 40, "diskPercent": 55}', now() from devices
     on conflict do nothing`,
  );
  await ground.sql(
    `insert into device_hardware (device_id, org_id, manufacturer, model, serial_number, cpu_model, cpu_cores, ram_total_mb, disk_total_gb)
     select id, org_id, 'Maker', 'Model 7', substr(id::text, 1, 8), 'CPU 3 GHz', 8, 16384, 512 from devices on conflict do nothing`,
  );
  const devices = await ground.sql<{ id: string; agentId: string }>(
    'select id, agent_id as "agentId" from devices where org_id = any($1) order by id limit $2',
    [orgIds, count],
  );
  const made = devices.map(({ id, agentId }) => ({ id, agentId, token: tokenOf(agentId) }));
  await ground.sql(
    `insert into agent_credentials (device_id, org_id, agent_id, role, state, token_hash)
     select d.id, d.org_id, d.agent_id, 'agent', 'current', encode(sha256(t.token::bytea), 'hex')
     from unnest($1::uuid[], $2::text[]) t (id, token) join devices d on d.id = t.id on conflict do nothing`,
    [made.map((device) => device.id), made.map((device) => device.token)],
  );
  await ground.sql('analyze');
  return made;
}
