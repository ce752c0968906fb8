/** Heartbeats with metrics from thousands of devices over HTTP, against the bare statements, one device at a time. */
import autocannon from 'autocannon';
import { openDatabase } from '../../../core/database/pools.ts';
import { makeDevices } from '../devices.ts';
import { drive, rounded, type Scenario } from '../scenario.ts';

const CONNECTIONS = 32;
const body = JSON.stringify({
  status: 'ok',
  agentVersion: '1.0.0',
  hostname: 'bench',
  osVersion: 'Debian 12',
  uptimeSeconds: 86_400,
  pendingReboot: false,
  metrics: {
    cpuPercent: 12.5,
    ramPercent: 40.1,
    ramUsedMb: 6500,
    diskPercent: 55,
    diskUsedGb: 280,
    networkInBps: 1200,
    networkOutBps: 900,
    diskReadBps: 10_000,
    diskWriteBps: 20_000,
    processCount: 210,
  },
});

export const scenario: Scenario = {
  title: `POST /agents/:id/heartbeat at ${CONNECTIONS} connections, against one update and one insert a beat through pg`,
  async run(ground) {
    const base = await ground.api();
    const devices = await makeDevices(ground, 10_000);
    await ground.sql(`update devices set hostname = 'bench'`);
    const requests = devices.map((device) => ({
      method: 'POST' as const,
      path: `/api/v1/agents/${device.agentId}/heartbeat`,
      headers: { authorization: `Bearer ${device.token}`, 'content-type': 'application/json' },
      body,
    }));
    let lane = 0;
    const share = Math.floor(requests.length / CONNECTIONS);
    const shoot = (duration: number) =>
      autocannon({
        url: base,
        connections: CONNECTIONS,
        duration,
        setupClient: (client) => {
          const from = (lane++ % CONNECTIONS) * share;
          client.setRequests(requests.slice(from, from + share));
        },
      });
    await shoot(2);
    const calls = async () => {
      const [row] = await ground.sql<{ calls: number }>(
        'select sum(xact_commit)::bigint as calls from pg_stat_database where datname = current_database()',
      );
      return row?.calls ?? 0;
    };
    const before = await calls();
    const result = await shoot(ground.seconds * 2);
    await new Promise((resolve) => setTimeout(resolve, 1200));
    const commits = (await calls()) - before;
    if (result.non2xx > 0)
      throw new Error(`${result.non2xx} beats were refused: ${JSON.stringify(result.statusCodeStats)}`);
    const database = openDatabase({ url: ground.databaseUrl, poolSize: 10, onError: () => undefined });
    const bare = await drive(ground.seconds, CONNECTIONS, async (at, round) => {
      const id = devices[(at * share + round) % devices.length]?.id;
      await database.platform.query(
        'update device_state set last_seen_at = now(), latest_metrics = $2 where device_id = $1',
        [id, body],
      );
      await database.platform.query(
        'insert into device_metrics (device_id, org_id, ts, cpu_percent) select device_id, org_id, clock_timestamp(), 12.5 from device_state where device_id = $1',
        [id],
      );
    });
    await database.close();
    return {
      'beats a second': rounded(result.requests.average),
      'p50 ms': result.latency.p50,
      'p99 ms': result.latency.p99,
      'bare, two statements a beat': rounded(bare.perSecond),
      ratio: rounded(result.requests.average / bare.perSecond),
      'commits a beat': rounded(commits / result.requests.total),
    };
  },
};
